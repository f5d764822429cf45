// What has been saved and what has not, what stands in the way, and what was refused: quiet at once, unmissable when it lasts.

import { make, makeActButton } from "../../kit/panel/elements.js";
import { fill } from "../../kit/panel/sentences.js";
import { makeSignInLink } from "../../kit/panel/sign_in_link.js";

const LATE_MS = 1500;

/**
 * @typedef {object} DecisionSaveStatusSettings
 * @property {HTMLElement} root of the panel
 * @property {HTMLElement} saved the quiet line
 * @property {HTMLElement} alert the unmissable one
 * @property {import("../../kit/panel/sentences.js").Words} words
 * @property {import("./decision_outbox.js").DecisionOutbox} outbox
 * @property {() => { hasBegun: boolean, returnedPairs: string[] }} findState whether the server has answered, and the pairs whose decision was refused
 */

export class DecisionSaveStatus {
  /** @param {DecisionSaveStatusSettings} settings */
  constructor({ root, saved, alert, words, outbox, findState }) {
    this.root = root;
    this.saved = saved;
    this.alert = alert;
    this.words = words;
    this.outbox = outbox;
    this.findState = findState;
    /** @type {string | null} */
    this.trouble = null;
    this.isStorageFull = false;
    this.alertState = "";
  }

  paint() {
    const { hasBegun, returnedPairs } = this.findState();
    const waiting = this.outbox.list();
    const isLate = waiting.length > 0 && Date.now() - waiting[0].pressed_at > LATE_MS;
    this.root.dataset.unsaved = String(waiting.length);
    this.root.toggleAttribute("data-late", isLate);
    this.saved.textContent = waiting.length ? fill(this.words.unsaved, { n: waiting.length }) : hasBegun ? this.words.allsaved : "";
    const cause = isLate ? (navigator.onLine ? "slow" : "offline") : null;
    this.paintAlert(this.isStorageFull ? "storage" : this.trouble ?? cause, waiting.length, returnedPairs);
  }

  /**
   * @param {string | null} trouble
   * @param {number} waitingCount
   * @param {string[]} returnedPairs
   */
  paintAlert(trouble, waitingCount, returnedPairs) {
    const state = JSON.stringify([trouble, waitingCount, returnedPairs]);
    if (state === this.alertState) return;
    this.alertState = state;
    /** @type {HTMLElement[]} */
    const parts = [];
    if (trouble) {
      const unsaved = waitingCount ? fill(this.words.unsavedlong, { n: waitingCount }) + " " : "";
      parts.push(make("span", "", `${unsaved}${this.words[`why_${trouble}`]} `));
      if (trouble === "signedout" || trouble === "other_person") parts.push(makeSignInLink(this.words));
    }
    if (returnedPairs.length) {
      parts.push(make("span", "", fill(this.words.cameback, { n: returnedPairs.length }) + " "), makeActButton("lookatit", this.words.lookatit));
    }
    this.alert.replaceChildren(...parts);
    this.alert.hidden = !parts.length;
  }
}
