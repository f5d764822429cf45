// What a screen reader is told in words beside what is on the screen.

export class Announcer {
  /** @param {HTMLElement} host an `aria-live` region */
  constructor(host) {
    this.host = host;
    this.text = "";
    /** @type {unknown} */
    this.subject = null;
  }

  /**
   * Say a text; behind what was said of the same subject before.
   * @param {string} text
   * @param {unknown} subject the pair that is on the screen
   */
  say(text, subject) {
    this.text = this.subject === subject ? `${this.text} ${text}` : text;
    this.subject = subject;
    this.host.textContent = this.text;
  }
}
