// Keeps every press in the browser's storage until the server has acknowledged it: one key per event, tagged
// with the annotator and the dataset, in the order in which they were pressed. Survives a reload, a crash, a
// closed tab; shared by the tabs of one browser, which is harmless because every event has an id of its own.

import { listStoredKeys, readStored, writeStored } from "../../kit/panel/browser_storage.js";
import { newId } from "../../kit/panel/ids.js";

const MOST_EVENTS = 100;
const MOST_CHARACTERS = 500000;  // of up to three bytes each: the server takes 2 MB
const CLOCK_TOLERANCE_MS = 3000;

/** @typedef {import("./messages.js").JudgmentEvent} JudgmentEvent */

/**
 * A press that the server refused, as it is shown to its annotator.
 * @typedef {{ why: string, code: string, document: string, note: string }} RefusedPress
 */

export class Outbox {
  /**
   * @param {string} username
   * @param {string} dataset
   */
  constructor(username, dataset) {
    this.prefix = `${namePrefix(username)}${encodeURIComponent(dataset)}/`;
    this.browserKey = `annotator/browser/${encodeURIComponent(username)}`;
    this.refusedKey = `annotator/refused/${encodeURIComponent(username)}/${encodeURIComponent(dataset)}`;
    this.lastPress = 0;
    this.clockErrorMs = 0;
  }

  /**
   * Take notice of the server's clock. This computer's may be wrong, or be set while somebody labels. (The header of an
   * answer knows whole seconds only, so a clock that is right is left alone.)
   * @param {string | null} date
   */
  noticeClock(date) {
    const error = Date.parse(date ?? "") + 500 - Date.now();
    if (!Number.isNaN(error)) this.clockErrorMs = Math.abs(error) > CLOCK_TOLERANCE_MS ? error : 0;
  }

  now() { return Date.now() + this.clockErrorMs; }

  /** Return the time of a press, always later than that of the press before. */
  takePressTime() {
    this.lastPress = Math.max(this.now(), this.lastPress + 1);
    return this.lastPress;
  }

  /**
   * Return the name of this browser, which this annotator alone has, and the number of the next press in it: higher than
   * that of every press before, whatever the clocks said then, in all tabs and after every reload. By these the server knows
   * an older press that arrives late from a newer one; between two browsers it goes by what it received first.
   */
  takeNumber() {
    /** @type {{ browser?: string, number?: number } | null} */
    const last = readStored(this.browserKey);
    const browser = last?.browser ?? newId(), number = Math.max(Math.round(this.now()), (last?.number ?? 0) + 1);
    localStorage.setItem(this.browserKey, JSON.stringify({ browser, number }));
    return { browser, browser_number: number };
  }

  /** Return whether this browser stores anything at all. Asked before the first press. */
  canStore() {
    try {
      localStorage.setItem("annotator/probe", "1");
      localStorage.removeItem("annotator/probe");
      return true;
    } catch { return false; }
  }

  /**
   * Return what the server refused, until its annotator has seen it: with the note, which would be lost otherwise.
   * @returns {RefusedPress[]}
   */
  listRefused() { return readStored(this.refusedKey) ?? []; }

  /** @param {RefusedPress[]} presses */
  storeRefused(presses) { writeStored(this.refusedKey, presses.length ? presses : null); }

  /**
   * Store a press. Throws when the browser refuses to store (full, or storage forbidden): then nothing was pressed.
   * @param {JudgmentEvent} event
   */
  put(event) {
    Object.assign(event, this.takeNumber());
    localStorage.setItem(this.keyOf(event), JSON.stringify(event));
  }

  /**
   * Return the key of an event: in the order of the presses. A panel of an older version did not number them.
   * @param {JudgmentEvent} event
   */
  keyOf(event) {
    const number = event.browser_number ?? Date.parse(event.pressed_at);
    return `${this.prefix}${number.toString().padStart(16, "0")}-${event.id}`;
  }

  /** @returns {JudgmentEvent[]} */
  list() { return listStoredKeys(this.prefix).map(readStored).filter(Boolean); }

  /**
   * Return the oldest presses, as many as one request may carry: a hundred long notes are more than the server takes at once.
   * @param {number} [most]
   */
  batch(most = MOST_EVENTS) {
    let charactersLeft = MOST_CHARACTERS;
    return this.list().slice(0, most).filter((event, i) => {
      charactersLeft -= JSON.stringify(event).length;
      return i === 0 || charactersLeft > 0;
    });
  }

  /** @param {string[]} ids */
  remove(ids) {
    const removed = new Set(ids);
    for (const event of this.list()) if (removed.has(event.id)) localStorage.removeItem(this.keyOf(event));
  }

  /**
   * Return the press in another tab of the same annotator that a storage event tells of, if it does.
   * @param {StorageEvent} change
   * @returns {JudgmentEvent | null}
   */
  findPressElsewhere(change) {
    return change.key?.startsWith(this.prefix) && change.newValue ? readStored(change.key) : null;
  }
}

/** @param {string} username */
function namePrefix(username) { return `annotator/outbox/${encodeURIComponent(username)}/`; }

/**
 * Return the datasets for which something of this annotator waits in this browser.
 * @param {string} username
 */
function listWaitingDatasets(username) {
  const prefix = namePrefix(username);
  const datasets = listStoredKeys(prefix).map((key) => key.slice(prefix.length).split("/")[0]);
  return [...new Set(datasets)].map(decodeURIComponent);
}

/**
 * Try once to submit what waits for datasets whose panel is not open. What is refused stays, to be said when that panel is
 * opened. Resolves to whether nothing is left to try.
 * @param {string} username
 * @param {string | null} openDataset the one whose panel is open
 */
export async function handInOtherDatasets(username, openDataset) {
  let isAllHandedIn = true;
  for (const dataset of listWaitingDatasets(username).filter((name) => name !== openDataset)) {
    const outbox = new Outbox(username, dataset);
    const body = JSON.stringify({ dataset, annotator: username, events: outbox.batch(), have: [], want: 0 });
    try {
      const answer = await fetch("/api/judgments", {
        method: "POST", credentials: "same-origin", headers: { "Content-Type": "application/json" }, body,
      });
      if (answer.ok) outbox.remove((await answer.json()).acknowledged);
    } catch { /* tried again later */ }
    if (outbox.list().length) isAllHandedIn = false;
  }
  return isAllHandedIn;
}

/** The note being typed for a pair, so that a reload does not lose it. */
export class NoteDrafts {
  /**
   * @param {string} username
   * @param {string} dataset
   */
  constructor(username, dataset) {
    this.prefix = `annotator/note/${encodeURIComponent(username)}/${encodeURIComponent(dataset)}/`;
  }

  /** @param {string} pair */
  read(pair) {
    try { return localStorage.getItem(this.prefix + pair) ?? ""; } catch { return ""; }
  }

  /**
   * @param {string} pair
   * @param {string} note
   */
  write(pair, note) {
    try {
      if (note) localStorage.setItem(this.prefix + pair, note);
      else localStorage.removeItem(this.prefix + pair);
    } catch { /* the note stays on the screen */ }
  }
}
