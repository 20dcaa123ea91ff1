// Files into tables: strict JSON, gzip, CSV, and what a cell says whatever its spelling.

class Refused extends Error { // something in the files is wrong, whoever looks at them
  constructor(key, values = {}) { super(key); this.key = key; this.values = values; }
}
class NotHere extends Refused {} // this page cannot look at it; the command can

// JSON none of whose names occurs twice and whose whole numbers are exact: readers would differ in what they believe.
function parseJson(text) {
  const token = /[ \t\n\r]*(?:([{}[\],:])|("(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*")|(-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?)|(true|false|null))/y;
  let match, depth = 0;
  const wrong = () => new Refused("no_manifest");
  const next = () => { match = token.exec(text); if (!match) throw wrong(); return match[1]; };
  const value = (sign) => {
    if (sign === "{") return object();
    if (sign === "[") return list();
    if (sign) throw wrong();
    if (match[2] !== undefined) return JSON.parse(match[2]);
    if (match[3] === undefined) return JSON.parse(match[4]);
    const number = Number(match[3]);
    if (!Number.isFinite(number) || (Number.isInteger(number) && !Number.isSafeInteger(number))) throw wrong();
    return number;
  };
  const deeper = (read) => { if (++depth > 100) throw wrong(); const content = read(); depth -= 1; return content; };
  const object = () => deeper(() => {
    const entries = Object.create(null);
    for (let sign = next(); sign !== "}"; ) {
      if (match[2] === undefined) throw wrong();
      const name = JSON.parse(match[2]);
      if (name in entries || next() !== ":") throw wrong();
      entries[name] = value(next());
      sign = next();
      if (sign === ",") { sign = next(); if (sign) throw wrong(); } else if (sign !== "}") throw wrong();
    }
    return entries;
  });
  const list = () => deeper(() => {
    const entries = [];
    for (let sign = next(); sign !== "]"; ) {
      entries.push(value(sign));
      sign = next();
      if (sign === ",") { sign = next(); if (sign === "]") throw wrong(); } else if (sign !== "]") throw wrong();
    }
    return entries;
  });
  const content = value(next());
  if (text.slice(token.lastIndex).trim()) throw wrong();
  return content;
}

// The text of a file, unpacked; what is no text, or too much of it, is not looked at here.
async function textOf(name, bytes) {
  const begins = (...codes) => codes.every((code, place) => bytes[place] === code);
  if (begins(0x1f, 0x8b)) bytes = await unpacked(name, bytes);
  else if (FACTS.other_formats.some((codes) => begins(...codes))) throw new NotHere("other_format", { file: name });
  if (begins(0xef, 0xbb, 0xbf)) bytes = bytes.subarray(3);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new NotHere("other_format", { file: name });
  }
}

async function unpacked(name, bytes) {
  const parts = [];
  let size = 0;
  const reader = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")).getReader();
  for (;;) {
    let part;
    try { part = await reader.read(); } catch { throw new Refused("damaged", { file: name }); }
    if (part.done) break;
    size += part.value.length;
    if (size > FACTS.most_bytes) { reader.cancel(); throw new NotHere("too_large", { file: name }); }
    parts.push(part.value);
  }
  const whole = new Uint8Array(size);
  let at = 0;
  for (const part of parts) { whole.set(part, at); at += part.length; }
  return whole;
}

// The records of a CSV text, one after the other; a blank line is an empty one.
function* records(text, delimiter) {
  let at = 0;
  const end = text.length;
  while (at < end) {
    const record = [];
    for (;;) {
      let cell = "";
      if (text[at] === '"') {
        for (let from = ++at; ; ) {
          const close = text.indexOf('"', from);
          if (close < 0) throw new Refused("open_quote");
          if (text[close + 1] !== '"') { cell += text.slice(at, close).replaceAll('""', '"'); at = close + 1; break; }
          from = close + 2;
        }
      }
      const from = at;
      while (at < end && text[at] !== delimiter && text[at] !== "\n" && text[at] !== "\r") at += 1;
      record.push(cell + text.slice(from, at));
      if (text[at] !== delimiter) break;
      at += 1;
    }
    if (text[at] === "\r" && text[at + 1] === "\n") at += 1;
    at += 1;
    yield record;
  }
}

const blank = (record) => record.length === 1 && record[0] === "";

function delimiterOf(text) {
  const sample = text.slice(0, 1 << 20);
  let best = ",", most = [0, 1];
  for (const delimiter of [",", ";", "\t", "|"]) {
    const rows = [];
    try {
      for (const record of records(sample, delimiter)) {
        if (!blank(record)) rows.push(record.length);
        if (rows.length === 200) break;
      }
    } catch (error) { if (!(error instanceof Refused)) throw error; }
    if (rows.length > 1) rows.pop();
    const width = rows[0] ?? 0;
    const share = width > 1 ? rows.filter((each) => each === width).length / rows.length : 0;
    if (share > most[0] || (share === most[0] && share > 0 && width > most[1])) { best = delimiter; most = [share, width]; }
  }
  return best;
}

// A table: for each column the place of each cell in the list of its different texts; an empty cell is missing (null).
function parseTable(name, text) {
  if (text.includes("\0")) throw new NotHere("other_format", { file: name });
  const declared = /^"?sep=([\t !#-/:-@[-`{-~])"?(?:\r\n|\r|\n)/i.exec(text);
  if (declared) text = text.slice(declared[0].length);
  const rows = records(text, declared ? declared[1] : delimiterOf(text));
  let header = rows.next().value;
  while (header && blank(header)) header = rows.next().value;
  if (!header) throw new Refused("no_records", { file: name });
  const names = header.map((each) => each.trim());
  if (new Set(names).size < names.length || names.includes("")) throw new Refused("bad_header", { file: name });
  const columns = names.map(() => ({ places: new Map(), codes: [] }));
  let count = 0;
  for (const record of rows) {
    if (blank(record) && names.length > 1) continue;
    if (record.length !== names.length) throw new Refused("ragged", { file: name });
    for (let at = 0; at < names.length; at += 1) {
      const { places, codes } = columns[at];
      let place = places.get(record[at]);
      if (place === undefined) places.set(record[at], place = places.size);
      codes.push(place);
    }
    count += 1;
  }
  if (!count) throw new Refused("no_records", { file: name });
  return { file: name, names, count, raw: new Map(names.map((each, at) => [each, columns[at]])), columns: new Map() };
}

const between = (ranges) => ranges.map(([first, last]) => `\\u{${first.toString(16)}}-\\u{${last.toString(16)}}`).join("");
const INVISIBLE = new RegExp(`[${between(FACTS.identity.invisible)}]`, "gu");
const BLANKS = new RegExp(`[${between(FACTS.identity.blanks)}]`, "gu");
const HYPHENS = new RegExp(`[${FACTS.identity.hyphens}]`, "gu");
const MOST_ZEROS = FACTS.identity.most_zeros;

function plainText(text) {
  if (/^[ -~]*$/.test(text)) return text.trim();
  text = text.replace(/\r\n?/g, "\n").replace(INVISIBLE, "").replace(BLANKS, " ").replace(HYPHENS, "-");
  return text.normalize("NFC").trim();
}

const withoutIdleFraction = (text) => text.replace(/(?<=:\d\d)\.0+(?!\d)/g, "");

// The plainest spelling of a number, exactly that number; null where a text is none.
function plainNumber(text) {
  const short = text.includes(".") && !/[eE]/.test(text) ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
  if (/^-?(?:0|[1-9][0-9]*)(?:\.[0-9]*[1-9])?$/.test(short) && short !== "-0" && short.length <= MOST_ZEROS) return short;
  const number = /^([-+\u2212]?)(\d*)\.?(\d*)(?:[eE]([-+\u2212]?\d{1,6}))?$/.exec(text);
  if (!number || !(number[2] + number[3]) || /^[-+\u2212]?0\d/.test(text)) return null;
  const figures = (number[2] + number[3]).replace(/^0+/, "");
  const significant = figures.replace(/0+$/, "");
  if (!significant) return "0";
  const exponent = Number((number[4] ?? "0").replace("\u2212", "-")) - number[3].length;
  const zeros = exponent + figures.length - significant.length, point = significant.length + zeros;
  let spelled;
  if (zeros > MOST_ZEROS || -point > MOST_ZEROS) {
    spelled = `${significant[0]}${significant.length > 1 ? "." : ""}${significant.slice(1)}e${point - 1}`;
  } else if (zeros >= 0) spelled = significant + "0".repeat(zeros);
  else if (point > 0) spelled = `${significant.slice(0, point)}.${significant.slice(point)}`;
  else spelled = `0.${"0".repeat(-point)}${significant}`;
  return (number[1] && number[1] !== "+" ? "-" : "") + spelled;
}

const points = (text) => Array.from(text, (sign) => sign.codePointAt(0));

// Texts in the order of their code points, which is not that of JavaScript; a missing value last.
function ascending(texts) {
  const keyed = texts.map((text) => [text, text === null || /^[\0-\ud7ff]*$/.test(text) ? null : points(text)]);
  return keyed.sort(([a, codes], [b, others]) => {
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    if (codes === null && others === null) return a < b ? -1 : a > b ? 1 : 0;
    const one = codes ?? points(a), two = others ?? points(b);
    for (let at = 0; at < one.length && at < two.length; at += 1) if (one[at] !== two[at]) return one[at] - two[at];
    return one.length - two.length;
  }).map(([text]) => text);
}

// A column as places in the ascending list of what its cells say.
function columnOf(table, name, numeric) {
  const key = `${numeric ? "number" : "text"} ${name}`;
  if (!table.columns.has(key)) {
    const { places, codes } = table.raw.get(name);
    const texts = [...places.keys()].map((text) => {
      if (text === "") return null;
      const bare = withoutIdleFraction(plainText(text));
      return (numeric ? plainNumber(bare) : null) ?? bare;
    });
    const labels = ascending([...new Set(texts)]);
    const known = new Map(labels.map((label, place) => [label, place]));
    const translation = texts.map((text) => known.get(text));
    table.columns.set(key, { labels, codes: Int32Array.from(codes, (code) => translation[code]) });
  }
  return table.columns.get(key);
}
