// Ids that this browser gives: of what is sent, and of this tab.

/** Return a UUID, also where crypto.randomUUID is missing (plain http on an address that is not this machine's). */
export function newId() {
  if ("randomUUID" in crypto) return crypto.randomUUID();
  const bytes = /** @type {Crypto} */ (crypto).getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 15) | 64;
  bytes[8] = (bytes[8] & 63) | 128;
  const hex = [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
}

/**
 * Return the id of this tab, which it keeps over a reload; `anew` gives it another one.
 * @param {boolean} [anew]
 */
export function findTabId(anew = false) {
  try {
    const id = (anew ? null : sessionStorage.getItem("annotator/tab")) ?? newId();
    sessionStorage.setItem("annotator/tab", id);
    return id;
  } catch {
    return newId();
  }
}
