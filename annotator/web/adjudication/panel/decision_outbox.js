// What a lead has decided and the server has not acknowledged yet, and what is typed for a pair: both are kept in this
// browser's storage, under keys that name the lead, so that a reload, a crash or a server that is away loses nothing.

import { listStoredKeys, readStored, writeStored } from "../../kit/panel/browser_storage.js";

/** @typedef {import("./messages.js").DecisionEntry} DecisionEntry */

/**
 * What is chosen and typed for a pair; `refused` and `before` if a decision on it was refused: why, and what was on the screen.
 * @typedef {Partial<import("./messages.js").DecisionFields> & { refused?: string, before?: import("./messages.js").SeenState }} DecisionDraft
 */

export class DecisionOutbox {
  /** @param {string} username */
  constructor(username) {
    this.prefix = `annotator/decisions/${encodeURIComponent(username)}/`;
    this.lastPress = 0;
  }

  /**
   * Store a decision. Throws when the browser refuses to: then nothing was decided.
   * @param {DecisionEntry} entry
   */
  put(entry) {
    this.lastPress = Math.max(Date.now(), this.lastPress + 1);
    entry.pressed_at = this.lastPress;
    localStorage.setItem(this.keyOf(entry), JSON.stringify(entry));
  }

  /** @param {DecisionEntry} entry */
  keyOf({ pressed_at, id }) { return `${this.prefix}${String(pressed_at).padStart(16, "0")}-${id}`; }

  /** @returns {(DecisionEntry & { pressed_at: number })[]} */
  list() { return listStoredKeys(this.prefix).map(readStored).filter(Boolean); }

  /** @param {string} pair */
  has(pair) { return this.list().some((entry) => entry.pair === pair); }

  /** @param {DecisionEntry} entry */
  remove(entry) {
    try { localStorage.removeItem(this.keyOf(entry)); } catch { /* it is sent once more, and the server knows it */ }
  }
}

/** What is chosen and typed for the pairs of a dataset, also what was refused. */
export class DecisionDrafts {
  /**
   * @param {string} username
   * @param {string} dataset
   */
  constructor(username, dataset) {
    this.prefix = `annotator/deciding/${encodeURIComponent(username)}/${encodeURIComponent(dataset)}/`;
  }

  /**
   * @param {string} pair
   * @returns {DecisionDraft | null}
   */
  read(pair) { return readStored(this.prefix + pair); }

  /**
   * @param {string} pair
   * @param {DecisionDraft | null} draft
   */
  write(pair, draft) { writeStored(this.prefix + pair, draft); }

  /**
   * Forget that a decision was refused, since a lead has seen it and left it at that: what was chosen and written stays.
   * @param {string} pair
   */
  acceptRefusal(pair) {
    const draft = this.read(pair);
    if (!draft?.refused) return;
    delete draft.refused;
    delete draft.before;
    this.write(pair, draft);
  }

  /** Return the pairs of which a decision was refused. */
  listRefused() {
    return listStoredKeys(this.prefix).filter((key) => readStored(key)?.refused).map((key) => key.slice(this.prefix.length));
  }
}
