// What has been saved and what has not, and what stands in the way: said quietly at once, and unmissably when it
// lasts. Says of each what happened and what is kept.

import { make, makeActButton, makeText, writeText } from "../../kit/panel/elements.js";
import { makeSignInLink } from "../../kit/panel/sign_in_link.js";
import { fill } from "../../kit/panel/sentences.js";

const LATE_MS = 1500;

/** What has become of a pair elsewhere. @typedef {"elsewhere" | "needless"} Elsewhere */

/**
 * @typedef {object} SaveStatusSettings
 * @property {HTMLElement} root of the panel
 * @property {HTMLElement} saved the quiet line
 * @property {HTMLElement} alert the unmissable one
 * @property {import("../../kit/panel/sentences.js").Words} words
 * @property {import("./outbox.js").Outbox} outbox
 * @property {() => { hasBegun: boolean, pair: string | null }} findState whether the server has answered, and the pair on the screen
 */

export class SaveStatus {
  /** @param {SaveStatusSettings} settings */
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
    /** @type {Map<string, Elsewhere>} by pair */
    this.elsewhere = new Map();
    this.refused = outbox.listRefused();
    this.alertState = "";
  }

  /** Count a press that was stored, for whoever asks before `paint` counts anew. */
  countPress() { this.root.dataset.unsaved = String(Number(this.root.dataset.unsaved) + 1); }

  paint() {
    const { hasBegun, pair } = this.findState();
    const waiting = this.outbox.list();
    const isLate = waiting.length > 0 && this.outbox.now() - Date.parse(waiting[0].pressed_at) > LATE_MS;
    this.root.dataset.unsaved = String(waiting.length);
    this.root.toggleAttribute("data-late", isLate);
    writeText(this.saved, waiting.length ? fill(this.words.unsaved, { n: waiting.length }) : hasBegun ? this.words.allsaved : "");
    const cause = isLate ? (navigator.onLine ? "slow" : "offline") : null;
    this.paintAlert(this.isStorageFull ? "storage" : this.trouble ?? cause, waiting.length, pair === null ? null : this.elsewhere.get(pair) ?? null);
  }

  /**
   * @param {string | null} trouble
   * @param {number} waitingCount
   * @param {Elsewhere | null} elsewhere
   */
  paintAlert(trouble, waitingCount, elsewhere) {
    const state = JSON.stringify([trouble, waitingCount, elsewhere, this.refused.length]);
    if (state === this.alertState) return;
    this.alertState = state;
    /** @type {HTMLElement[]} */
    const parts = [];
    if (trouble) {
      const unsaved = waitingCount ? fill(this.words.unsavedlong, { n: waitingCount }) + " " : "";
      parts.push(make("span", "", `${unsaved}${this.words[`why_${trouble}`]} `));
      if (trouble === "signedout" || trouble === "other_person") parts.push(makeSignInLink(this.words));
    } else if (elsewhere) parts.push(make("span", "", this.words[elsewhere]));
    if (this.refused.length) parts.push(...this.describeRefused());
    this.alert.replaceChildren(...parts);
    this.alert.hidden = !parts.length;
  }

  describeRefused() {
    const list = make("ul");
    for (const press of this.refused) {
      const line = makeText("li", `${press.document}: ${this.words[`refused_${press.code}`] ?? press.why}`);
      if (press.note) line.append(make("br"), fill(this.words.refusednote, { note: press.note }));
      list.append(line);
    }
    return [make("span", "", fill(this.words.refused, { n: this.refused.length })), list, makeActButton("forget", this.words.forget)];
  }

  /** @param {import("./outbox.js").RefusedPress} press */
  addRefused(press) {
    this.refused.push(press);
    this.outbox.storeRefused(this.refused);
  }

  forgetRefused() {
    this.refused = [];
    this.outbox.storeRefused([]);
    this.paint();
  }
}
