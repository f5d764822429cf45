// Reads and writes JSON in the browser's storage, which may be full, forbidden or written by another version.

/**
 * Return the stored keys that begin with the prefix, in order.
 * @param {string} prefix
 */
export function listStoredKeys(prefix) {
  try { return Object.keys(localStorage).filter((key) => key.startsWith(prefix)).sort(); } catch { return []; }
}

/**
 * Return what is stored under the key; null if nothing is, or no JSON.
 * @param {string} key
 * @returns {any}
 */
export function readStored(key) {
  try { return JSON.parse(localStorage.getItem(key) ?? "null"); } catch { return null; }
}

/**
 * Store a value, or remove it if it is null. What cannot be stored stays on the screen.
 * @param {string} key
 * @param {unknown} value
 */
export function writeStored(key, value) {
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
  } catch { /* it lives as long as the page */ }
}

const MOST_VISITED = 50;

/** The keys of the pairs answered last in this tab, so that one can go back also after a reload. */
export class VisitedPairs {
  /** @param {string} key */
  constructor(key) {
    this.key = key;
  }

  /** @returns {string[]} */
  list() {
    try { return JSON.parse(sessionStorage.getItem(this.key) ?? "[]") ?? []; } catch { return []; }
  }

  /** @param {string} pair */
  push(pair) {
    this.write([...this.list().filter((other) => other !== pair), pair]);
  }

  /** @param {string} pair */
  remove(pair) {
    this.write(this.list().filter((other) => other !== pair));
  }

  /** Take out the last one. */
  pop() {
    const pairs = this.list();
    const last = pairs.pop() ?? null;
    this.write(pairs);
    return last;
  }

  /** @param {string[]} pairs */
  write(pairs) {
    try { sessionStorage.setItem(this.key, JSON.stringify(pairs.slice(-MOST_VISITED))); } catch { /* one goes back as far as this page knows */ }
  }
}
