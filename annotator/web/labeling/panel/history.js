// The last judgments of the query on the screen: a small row of the person's own grades. A key goes to it, and each
// button goes back to its pair. Another pair with the document on the screen is left out: whoever judges a document a
// second time must not read the first grade.

import { findFocused, make } from "../../kit/panel/elements.js";

const MOST_SHOWN = 8;
const MOST_KEPT = 50;

/** @typedef {import("./messages.js").Pair} Pair */

/**
 * A judged pair, as the row shows it.
 * @typedef {object} JudgedPair
 * @property {string} pair
 * @property {string} query_id
 * @property {string} doc_id
 * @property {string} title
 * @property {string} sign the grade, or "–" for what cannot be rated
 */

export class History {
  /**
   * @param {object} settings
   * @param {HTMLElement} settings.host
   * @param {string} settings.key under which this tab keeps it over a reload
   * @param {import("../../kit/panel/sentences.js").Words} settings.words
   * @param {(pair: string) => void} settings.open
   * @param {() => void} settings.leave puts the focus back to the document
   */
  constructor({ host, key, words, open, leave }) {
    this.host = host;
    this.words = words;
    this.key = key;
    this.leave = leave;
    host.addEventListener("keydown", (event) => this.press(event));
    host.addEventListener("click", (event) => {
      const button = event.target instanceof HTMLButtonElement ? event.target : null;
      if (button?.dataset.pair) open(button.dataset.pair);
    });
  }

  /** @returns {JudgedPair[]} the latest last */
  list() {
    try { return JSON.parse(sessionStorage.getItem(this.key) ?? "[]") ?? []; } catch { return []; }
  }

  /**
   * Note a judgment.
   * @param {Pair} pair
   */
  add({ pair, query, document, answer: own }) {
    const judged = { pair, query_id: query.query_id, doc_id: document.doc_id, title: document.title || document.doc_id, sign: own?.outcome === "graded" ? String(own.grade) : "–" };
    this.write([...this.list().filter((other) => other.pair !== pair), judged]);
  }

  /** @param {string} key of a pair whose judgment was refused */
  forget(key) { this.write(this.list().filter(({ pair }) => pair !== key)); }

  /** @param {JudgedPair[]} judged */
  write(judged) {
    try { sessionStorage.setItem(this.key, JSON.stringify(judged.slice(-MOST_KEPT))); } catch { /* then the row stays empty */ }
  }

  /** @param {Pair | null} current */
  paint(current) {
    const shown = current ? this.list().filter(({ pair, query_id, doc_id }) => query_id === current.query.query_id && (pair === current.pair || doc_id !== current.document.doc_id)).slice(-MOST_SHOWN) : [];
    const state = JSON.stringify([shown, current?.pair]);
    if (this.host.dataset.state === state) return;
    this.host.dataset.state = state;
    if (this.host.contains(findFocused(this.host))) this.leave();
    this.host.replaceChildren(...shown.map(({ pair, title, sign }, i) => {
      const button = make("button", "", sign);
      const label = `${title}: ${sign === "–" ? this.words.history_none : sign}`;
      Object.assign(button, { type: "button", title: label, tabIndex: i === shown.length - 1 ? 0 : -1 });
      button.setAttribute("aria-label", label);
      if (pair === current?.pair) button.setAttribute("aria-current", "true");
      button.dataset.pair = pair;
      return button;
    }));
    this.host.hidden = !shown.length;
  }

  focus() { if (this.host.lastElementChild instanceof HTMLElement) this.host.lastElementChild.focus(); }

  /** @param {KeyboardEvent} event */
  press(event) {
    const buttons = [...this.host.querySelectorAll("button")], focused = findFocused(this.host);
    const at = buttons.findIndex((button) => button === focused);
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? 0;
    if (event.key === "Escape") this.leave();
    else if (step && at >= 0) buttons[Math.max(0, Math.min(buttons.length - 1, at + step))].focus();
    else return;
    event.preventDefault();
  }
}
