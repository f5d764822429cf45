// The question why a pair cannot be rated: five reasons, each with a digit. The last, another reason, needs words of the
// annotator, which become the judgment's note.

import { findAround, findElement, make, makeButton } from "../../kit/panel/elements.js";
import { findChoice, isComposing } from "../../kit/panel/keys.js";

const OTHER = "other";
const UNRATEABLE_REASONS = ["unreadable", "wrong_language", "document_missing", "query_unclear", OTHER];

/** @typedef {{ reason: string, note: string }} ChosenReason */

export class ReasonDialog {
  /**
   * @param {{ dialog: HTMLDialogElement, title: HTMLElement, list: HTMLElement }} parts
   * @param {import("../../kit/panel/sentences.js").Words} words
   */
  constructor({ dialog, title, list }, words) {
    this.dialog = dialog;
    this.list = list;
    this.words = words;
    this.note = "";
    this.field = make("input");
    this.error = make("p", "dialogstatus");
    this.form = make("div", "reasonwords");
    /** @type {((chosen: ChosenReason | null) => void) | null} */
    this.resolve = null;
    title.textContent = words.reason_title;
    list.replaceChildren(...UNRATEABLE_REASONS.map((reason, i) => {
      const button = make("button");
      button.type = "button";
      button.dataset.reason = reason;
      button.setAttribute("aria-keyshortcuts", String(i + 1));
      button.append(make("kbd", "", i + 1), make("span", "", words[`reason_${reason}`]));
      return button;
    }), this.fillForm());
  }

  /** Make the field for the words of another reason; it is shown once that reason is chosen. */
  fillForm() {
    Object.assign(this.field, { id: "reasonwords", type: "text", maxLength: 10000, dir: "auto", autocomplete: "off" });
    this.field.setAttribute("aria-describedby", "reasonerror");
    this.field.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || isComposing(event)) return;
      event.preventDefault();  // or it would press the button that gets the focus back
      if (!event.repeat) this.giveWords();
    });
    const label = make("label", "dialoglabel", this.words.reason_words);
    label.htmlFor = this.field.id;
    this.error.id = "reasonerror";
    this.error.setAttribute("role", "alert");
    const save = makeButton(this.words.reason_save, "⏎", "primary");
    save.addEventListener("click", () => this.giveWords());
    this.form.hidden = true;
    this.form.append(label, this.field, this.error, save);
    return this.form;
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
      const choice = event.composedPath()[0] === this.field ? null : findChoice(event, UNRATEABLE_REASONS.length);
      if (choice === null) return;
      event.preventDefault();
      this.choose(UNRATEABLE_REASONS[choice - 1]);
    }, { signal });
  }

  /**
   * Ask. Resolves to the chosen reason with the judgment's note; to null if none is chosen.
   * @param {string} note what has been typed beside the pair
   * @param {{ needsWords?: boolean }} [options] `needsWords`: the reason is another one, and only its words are missing
   * @returns {Promise<ChosenReason | null>}
   */
  ask(note, { needsWords = false } = {}) {
    if (this.dialog.open) return Promise.resolve(null);
    this.note = note;
    this.showForm(needsWords);
    this.dialog.showModal();
    if (needsWords) this.field.focus();
    else findElement(this.list, "button", HTMLButtonElement).focus();
    return new Promise((resolve) => { this.resolve = resolve; });
  }

  /** @param {boolean} isShown */
  showForm(isShown) {
    this.form.hidden = !isShown;
    this.field.value = "";
    this.error.textContent = "";
    for (const button of this.list.querySelectorAll("[data-reason]")) {
      button.setAttribute("aria-pressed", String(isShown && button instanceof HTMLElement && button.dataset.reason === OTHER));
    }
  }

  /** @param {string} reason */
  choose(reason) {
    if (reason !== OTHER || this.note.trim()) return this.finish({ reason, note: this.note });
    this.showForm(true);
    this.field.focus();
  }

  /** Take the words of another reason; without any, say at the field that they are needed. */
  giveWords() {
    const note = this.field.value.trim();
    if (note) return this.finish({ reason: OTHER, note });
    this.error.textContent = this.words.reason_empty;
    this.field.focus();
  }

  /** @param {ChosenReason} chosen */
  finish(chosen) {
    const { resolve } = this;
    this.resolve = null;
    this.dialog.close();
    resolve?.(chosen);
  }

  /** @param {ChosenReason | null} chosen */
  answer(chosen) {
    this.resolve?.(chosen);
    this.resolve = null;
  }
}
