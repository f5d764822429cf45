// The quiet remark at the foot of a document. It stays until it is closed, or until some further answers have been given.

import { findFocused, make, makeActButton } from "./elements.js";

export class Remark {
  /**
   * @param {{ host: HTMLElement, closeWord: string, answers?: number, focusElsewhere: () => void }} parts
   *   `answers`: how many further answers close it; `focusElsewhere`: where the focus goes from its button.
   */
  constructor({ host, closeWord, answers = Infinity, focusElsewhere }) {
    this.host = host;
    this.closeWord = closeWord;
    this.answers = answers;
    this.focusElsewhere = focusElsewhere;
    this.answersLeft = 0;
  }

  /**
   * @param {string} text
   * @param {HTMLElement[]} buttons for what can be done about it
   */
  show(text, ...buttons) {
    const close = makeActButton("close_remark", "×");
    close.setAttribute("aria-label", this.closeWord);
    this.host.replaceChildren(make("span", "", text), ...buttons, close);
    this.host.hidden = false;
    this.answersLeft = this.answers;
  }

  countAnswer() {
    if (this.answersLeft && --this.answersLeft === 0) this.close();
  }

  close() {
    const heldFocus = this.host.contains(findFocused(this.host));
    this.host.hidden = true;
    this.host.replaceChildren();
    if (heldFocus) this.focusElsewhere();
  }
}
