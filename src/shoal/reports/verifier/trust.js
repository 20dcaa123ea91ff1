// Hashes, and the signature of a manifest: Ed25519 over its canonical JSON (RFC 8785), by the browser's own cryptography.

const hex = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
const sha256 = async (bytes) => hex(await crypto.subtle.digest("SHA-256", bytes));

function canonical(value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.keys(value).sort().map((name) => `${JSON.stringify(name)}:${canonical(value[name])}`).join(",")}}`;
}

function decoded(base64) {
  try {
    return Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

// The public key in a PEM text, with the fingerprint that people compare.
async function publicKey(name, text) {
  if (text.includes("PRIVATE KEY")) throw new Refused("secret_key", { file: name });
  const body = /-----BEGIN PUBLIC KEY-----([A-Za-z0-9+/=\s]+)-----END PUBLIC KEY-----/.exec(text);
  const der = decoded((body?.[1] ?? "").replace(/\s/g, ""));
  let key;
  try {
    key = await crypto.subtle.importKey("spki", der, { name: "Ed25519" }, false, ["verify"]);
  } catch (error) {
    if (error.name === "NotSupportedError") throw new NotHere("no_ed25519");
    throw new Refused("bad_key", { file: name });
  }
  return { key, fingerprint: await sha256(der) };
}

// What is known about who made a manifest: a state, and whether it holds where somebody gave a key.
async function signatureOf(manifest, key) {
  const signature = manifest.signature;
  if (!key) return { value: signature ? "unchecked" : "none", holds: null };
  if (!signature) return { value: "missing", holds: false };
  if (signature.key !== key.fingerprint) return { value: "another", holds: false };
  const { value, ...head } = signature;
  const message = new TextEncoder().encode(canonical({ ...manifest, signature: head }));
  const valid = await crypto.subtle.verify({ name: "Ed25519" }, key.key, decoded(value), message);
  return valid ? { value: "valid", holds: true } : { value: "wrong", holds: false };
}
