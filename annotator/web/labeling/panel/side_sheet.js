// The sheet at the side of the labeling panel: the guideline and the keys, or what has changed since an answer.

import { findAround } from "../../kit/panel/elements.js";

export class SideSheet {
  /** @param {{ dialog: HTMLDialogElement, title: HTMLElement, body: HTMLElement }} parts */
  constructor({ dialog, title, body }) {
    this.dialog = dialog;
    this.title = title;
    this.body = body;
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    const { dialog } = this;
    dialog.addEventListener("click", (event) => { if (event.target === dialog || findAround(event, "[data-close]")) dialog.close(); }, { signal });
    dialog.addEventListener("keydown", (event) => {
      if (event.key !== "?" || event.repeat) return;
      event.preventDefault();
      dialog.close();
    }, { signal });
  }

  /**
   * @param {string} title
   * @param {HTMLElement[]} parts
   */
  open(title, parts) {
    this.title.textContent = title;
    this.body.replaceChildren(...parts);
    if (this.dialog.open) return;
    this.dialog.showModal();
    this.body.scrollTop = 0;
    this.body.focus();
  }
}
