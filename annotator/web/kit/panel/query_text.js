// The query above a document, with what is needed (its narrative): open at once if it is short.

import { setLanguage } from "./elements.js";

const LONG_NARRATIVE = 280;

/** @typedef {import("./messages.js").Query} Query */

export class QueryText {
  /** @param {{ query: HTMLElement, narrative: HTMLElement, narrativebox: HTMLDetailsElement }} parts */
  constructor({ query, narrative, narrativebox }) {
    this.query = query;
    this.narrative = narrative;
    this.box = narrativebox;
    /** @type {Query | null} */
    this.shown = null;
  }

  /** @param {Query} query */
  isShown(query) { return this.shown !== null && this.shown.text === query.text && this.shown.narrative === query.narrative; }

  /**
   * @param {Query} query
   * @param {string | null | undefined} language
   */
  show(query, language) {
    this.shown = query;
    this.query.textContent = query.text;
    const narrative = query.narrative ?? "", isLong = narrative.length > LONG_NARRATIVE;
    this.box.hidden = !narrative;
    this.box.open = !isLong;
    this.box.toggleAttribute("data-short", !isLong);
    this.narrative.textContent = narrative;
    for (const text of [this.query, this.narrative]) setLanguage(text, language);
  }
}
