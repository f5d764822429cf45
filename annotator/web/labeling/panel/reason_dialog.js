// The question why a pair cannot be rated: five reasons, each with a digit.

import { findAround, make } from "../../kit/panel/elements.js";
import { findChoice } from "../../kit/panel/keys.js";

const UNRATEABLE_REASONS = ["unreadable", "wrong_language", "document_missing", "query_unclear", "other"];

export class ReasonDialog {
  /**
   * @param {{ dialog: HTMLDialogElement, title: HTMLElement, list: HTMLElement }} parts
   * @param {import("../../kit/panel/sentences.js").Words} words
   */
  constructor({ dialog, title, list }, words) {
    this.dialog = dialog;
    this.list = list;
    /** @type {((reason: string | null) => void) | null} */
    this.resolve = null;
    title.textContent = words.reason_title;
    list.replaceChildren(...UNRATEABLE_REASONS.map((reason, i) => {
      const button = make("button");
      button.type = "button";
      button.dataset.reason = reason;
      button.setAttribute("aria-keyshortcuts", String(i + 1));
      button.append(make("kbd", "", i + 1), make("span", "", words[`reason_${reason}`]));
      return button;
    }));
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    const { dialog } = this;
    dialog.addEventListener("click", (event) => {
      if (event.target === dialog || findAround(event, "[data-close]")) return dialog.close();
      const reason = findAround(event, "[data-reason]")?.dataset.reason;
      if (reason) this.choose(reason);
    }, { signal });
    dialog.addEventListener("close", () => this.answer(null), { signal });
    dialog.addEventListener("keydown", (event) => {
      const choice = findChoice(event, UNRATEABLE_REASONS.length);
      if (choice === null) return;
      event.preventDefault();
      this.choose(UNRATEABLE_REASONS[choice - 1]);
    }, { signal });
  }

  /**
   * Ask. Resolves to the chosen reason; to null if none is chosen.
   * @returns {Promise<string | null>}
   */
  ask() {
    if (this.dialog.open) return Promise.resolve(null);
    this.dialog.showModal();
    this.list.querySelector("button")?.focus();
    return new Promise((resolve) => { this.resolve = resolve; });
  }

  /** @param {string} reason */
  choose(reason) {
    const { resolve } = this;
    this.resolve = null;
    this.dialog.close();
    resolve?.(reason);
  }

  /** @param {string | null} reason */
  answer(reason) {
    this.resolve?.(reason);
    this.resolve = null;
  }
}
