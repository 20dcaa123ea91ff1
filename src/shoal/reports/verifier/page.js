// The page: which files there are, what they are, and what came out.

const state = { files: [], language: navigator.language.startsWith("de") ? "de" : "en", outcome: null, run: 0 };
const at = (id) => document.getElementById(id);

function say(key, values = {}) {
  const text = (FACTS.messages[key] ?? { en: key })[state.language] ?? FACTS.messages[key].en;
  return text.replace(/\{(\w+)\}/g, (hole, name) => (name in values ? shown(values[name]) : hole));
}

// A value as people of the language read it; what came from a file is short and printable.
function shown(value) {
  if (value === null || value === undefined) return "–";
  if (typeof value === "boolean") return say(value ? "yes" : "no");
  if (typeof value !== "number") return String(value).replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "�").slice(0, 200);
  if (!Number.isFinite(value)) return value > 0 ? "∞" : "−∞";
  return value.toLocaleString(state.language, { maximumSignificantDigits: Number.isInteger(value) ? 17 : 4 });
}

// Elements hold text only: nothing of a file becomes markup.
function element(tag, text = "", attributes = {}) {
  const made = document.createElement(tag);
  made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

// What a file is, by what is in it.
async function sorted(file) {
  if (file.size > FACTS.most_bytes) return { file, kind: "table", too_large: true };
  const bytes = new Uint8Array(await file.arrayBuffer());
  const start = new TextDecoder().decode(bytes.subarray(0, 4096)).replace(/^\ufeff/, "").trimStart();
  const kind = /^-----BEGIN [A-Z ]*KEY-----/.test(start) ? "key"
    : start.startsWith("{") && /"format"\s*:/.test(start) && file.name.endsWith(".json") ? "manifest"
    : /^<!doctype html/i.test(start) || /\.(html?|pdf|toml)$/i.test(file.name) ? "other" : "table";
  return { file, kind, bytes, hash: kind === "table" ? await sha256(bytes) : null };
}

// Which file is which table of a manifest: by its content, else by its name, else the only one that is left.
function tablesOf(stated, manifestName, files) {
  const left = new Set(files.filter((each) => each.kind === "table")), found = new Map();
  const take = (part, file) => { if (file) { found.set(part, file); left.delete(file); } };
  const main = manifestName.replace(/\.manifest\.json$/, "");
  for (const { part, sha256: hash } of stated.tables) take(part, [...left].find((each) => each.hash === hash));
  for (const { part } of stated.tables) {
    const name = part ? main.replace(/^([^.]*)/, `$1.${part}`) : main;
    if (!found.has(part)) take(part, [...left].find((each) => each.file.name === name));
  }
  const lacking = stated.tables.filter(({ part }) => !found.has(part));
  if (lacking.length === 1 && left.size === 1) take(lacking[0].part, [...left][0]);
  if (left.size && lacking.length && !found.has(lacking[0].part)) throw new Refused("which_table");
  const still = stated.tables.find(({ part }) => !found.has(part));
  if (still) throw new Refused("lacks_table", { file: still.part ? main.replace(/^([^.]*)/, `$1.${still.part}`) : main });
  return { found, unused: [...left] };
}

// Every check of what was dropped, as findings; `error` says why there are none.
async function check(files) {
  const manifests = files.filter((each) => each.kind === "manifest"), keys = files.filter((each) => each.kind === "key");
  if (manifests.length !== 1) throw new Refused(manifests.length ? "two_manifests" : "lacks_manifest");
  if (keys.length > 1) throw new Refused("two_keys");
  const text = (each) => new TextDecoder("utf-8", { fatal: true }).decode(each.bytes);
  const stated = readManifest(readable(() => text(manifests[0])));
  const { found, unused } = tablesOf(stated, manifests[0].file.name, files);
  const findings = [], large = [...found.values()].find((each) => each.too_large);
  let key = null, signature;
  try {
    key = keys.length ? await publicKey(keys[0].file.name, readable(() => text(keys[0]), "bad_key", keys[0].file.name)) : null;
    signature = { name: "signature", ...(await signatureOf(stated, key)) };
  } catch (error) {
    if (!(error instanceof NotHere)) throw error;
    signature = { name: "signature", holds: null, not_here: error.key };
  }
  const same = stated.tables.every(({ part, sha256: hash }) => found.get(part).hash === hash);
  const unchanged = large
    ? { name: "unchanged", holds: null, not_here: "too_large", values: { file: large.file.name } }
    : { name: "unchanged", holds: same };
  const outcome = { stated, unused, fingerprint: key?.fingerprint ?? null, signer: stated.signature?.key ?? null, name: found.get("").file.name };
  try {
    if (large) throw new NotHere("too_large", { file: large.file.name });
    const tables = new Map();
    for (const { part } of stated.tables) {
      const { file, bytes } = found.get(part);
      tables.set(part, parseTable(file.name, await textOf(file.name, bytes)));
    }
    findings.push(...measuredFindings(stated, tables));
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const intact = unchanged.holds !== false && signature.holds !== false;
    if (!(error instanceof NotHere) && intact) throw error;
    findings.push({ name: "models", holds: null, not_here: error.key, values: error.values });
  }
  return { ...outcome, findings: [...findings, unchanged, signature] };
}

function readable(read, key = "no_manifest", file = "") {
  try {
    return read();
  } catch (error) {
    if (error instanceof TypeError) throw new Refused(key, { file });
    throw error;
  }
}

function verdictOf(findings) {
  if (findings.some((each) => each.holds === false)) return "no";
  if (findings.some((each) => each.not_here)) return "partly";
  return findings.find((each) => each.name === "signature").holds ? "yes" : "unsigned";
}

const named = (model) => {
  const { name, ...given } = model;
  const parameters = Object.entries(given)
    .filter(([key, value]) => value !== null && !Array.isArray(value) && key !== "leaves")
    .map(([key, value]) => `${key}\u00a0=\u00a0${shown(value)}`);
  return parameters.length ? `${shown(name)} (${parameters.join(", ")})` : shown(name);
};

function rowOf(finding) {
  const { name, model, value, bound, holds, not_here, note, values = {}, columns, unit } = finding;
  const command = `shoal verify ${state.outcome.name}`;
  const figure = (number) => (unit === "share" && typeof number === "number" ? `${shown(100 * number)} %` : shown(number));
  const row = element("tr", "", { "data-check": name, "data-holds": String(holds), "data-value": value ?? "" });
  const title = element("th", model ? named(model) : say(`check.${name}`), { scope: "row" });
  const mark = holds === null ? "open" : holds ? "yes" : "no";
  const words = holds === null ? say(not_here ? "mark.not_here" : "mark.open") : say(`mark.${mark}`);
  const means = name === "signature" && !not_here ? say(`signature.${value}`, { key: state.outcome.signer })
    : [
      not_here ? say(`not_here.${not_here}`, { command, ...values }) : say(model ? "means.model" : `means.${name}`),
      note ? say(`note.${note}`, { command }) : "",
      columns?.length ? say("wrong_columns", { columns: columns.map(shown).join(", ") }) : "",
    ].filter(Boolean).join(" ");
  const measuredHere = name !== "signature" && value !== undefined;
  row.append(
    title, element("td", words, { class: mark }), element("td", measuredHere ? figure(value) : "", { class: "figure" }),
    element("td", measuredHere ? figure(bound) : "", { class: "figure" }),
    element("td", means, { class: "means" }),
  );
  return row;
}

function draw() {
  document.documentElement.lang = state.language;
  document.title = say("title");
  for (const each of document.querySelectorAll("[data-say]")) each.textContent = say(each.dataset.say);
  for (const each of document.querySelectorAll("[data-language]")) {
    each.setAttribute("aria-pressed", String(each.dataset.language === state.language));
  }
  at("files").replaceChildren(...state.files.map(({ file, kind }) => element("li", `${shown(file.name)}: ${say(`kind.${kind}`)}`)));
  const { outcome } = state, ready = Boolean(outcome?.findings);
  at("again").hidden = !state.files.length;
  at("result").hidden = !ready;
  const verdict = !outcome ? "waiting" : outcome.error ? "error" : verdictOf(outcome.findings);
  at("verdict").dataset.verdict = verdict;
  at("verdict").textContent = outcome?.error
    ? say(`error.${outcome.error.key}`, outcome.error.values)
    : say(`verdict.${verdict}`, { name: outcome?.name, command: `shoal verify ${shown(outcome?.name)}` });
  if (!ready) return;
  at("checks").replaceChildren(...outcome.findings.map(rowOf));
  at("unused").textContent = outcome.unused.length ? say("unused", { files: outcome.unused.map((each) => shown(each.file.name)).join(", ") }) : "";
  const { policy, records, published } = outcome.stated;
  at("promise").textContent = say(policy.models.length ? "promise" : "no_promise", {
    models: policy.models.map(named).join("; "), records, published,
  });
  const fingerprint = outcome.fingerprint ?? outcome.signer;
  at("key").hidden = !fingerprint;
  at("fingerprint").textContent = (fingerprint ?? "").replace(/(.{4})(?=.)/g, "$1 ");
  at("compare").textContent = say(outcome.fingerprint ? "key.compare" : "key.needed");
}

async function take(files) {
  const run = (state.run += 1), fresh = [];
  at("verdict").dataset.verdict = "working";
  at("verdict").textContent = say("verdict.working");
  for (const file of files) fresh.push(await sorted(file));
  if (run !== state.run) return;
  const replaced = (each) => fresh.some((other) => other.file.name === each.file.name || (other.kind === each.kind && each.kind !== "table"));
  state.files = [...state.files.filter((each) => !replaced(each)), ...fresh];
  let outcome;
  try {
    outcome = await check(state.files);
  } catch (error) {
    outcome = { error: error instanceof Refused ? error : new Refused("broken_page") };
  }
  if (run !== state.run) return;
  state.outcome = outcome;
  draw();
}

function restart() {
  Object.assign(state, { files: [], outcome: null, run: state.run + 1 });
  at("choose").value = "";
  draw();
}

for (const each of document.querySelectorAll("[data-language]")) {
  each.addEventListener("click", () => { state.language = each.dataset.language; draw(); });
}
at("choose").addEventListener("change", (event) => { take([...event.target.files]); event.target.value = ""; });
at("again").addEventListener("click", restart);
for (const kind of ["dragenter", "dragover"]) {
  document.addEventListener(kind, (event) => { event.preventDefault(); at("drop").classList.add("over"); });
}
document.addEventListener("dragleave", () => at("drop").classList.remove("over"));
document.addEventListener("drop", (event) => {
  event.preventDefault();
  at("drop").classList.remove("over");
  take([...event.dataTransfer.files]);
});
draw();
