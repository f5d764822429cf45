// What a screen reader is told in words beside what is on the screen.

import { runAfterPaint } from "./after_paint.js";

export class Announcer {
  /** @param {HTMLElement} host an `aria-live` region */
  constructor(host) {
    this.host = host;
    this.text = "";
    /** @type {unknown} */
    this.subject = null;
  }

  /**
   * Say a text once the screen is painted; behind what was said of the same subject before.
   * @param {string} text
   * @param {unknown} subject the pair that is on the screen
   */
  say(text, subject) {
    this.sayAlone(this.subject === subject ? `${this.text} ${text}` : text, subject);
  }

  /**
   * Say a text instead of what was said before.
   * @param {string} text
   * @param {unknown} subject
   */
  sayAlone(text, subject) {
    this.text = text;
    this.subject = subject;
    runAfterPaint(() => { if (this.host.textContent !== this.text) this.host.textContent = this.text; });
  }
}
