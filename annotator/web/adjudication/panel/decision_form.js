// The decision on the disagreement that is on the screen: a grade (or that it cannot be rated), why, a code for the cause, and
// whether the guideline should say so. What is chosen and typed is kept for its pair until it is stored.

import { findActButton, make, makeActButton, makeHiddenKey, nameButton } from "../../kit/panel/elements.js";
import { isComposing } from "../../kit/panel/keys.js";
import { fill } from "../../kit/panel/sentences.js";
import { CAUSE_KEYS } from "./decision_keys.js";
import { isOpen, isWithdrawable, summarize } from "./disagreements.js";

const RATIONALE_FROM = 2;  // grades so far apart need words
const ALIKE_FROM = 0.9;

/** @typedef {import("./messages.js").Decided} Decided */
/** @typedef {import("./messages.js").DecisionFields} DecisionFields */
/** @typedef {import("./messages.js").Disagreement} Disagreement */

/**
 * What the form needs of the panel.
 * @typedef {object} DecisionFormSettings
 * @property {HTMLElement} root of the panel
 * @property {{ decision: HTMLElement, asked: HTMLElement, barred: HTMLElement, causes: HTMLElement, hint: HTMLElement, rationale: HTMLTextAreaElement, rationalelabel: HTMLElement }} parts
 * @property {import("../../kit/panel/sentences.js").Words} words
 * @property {import("./decision_outbox.js").DecisionDrafts} drafts
 * @property {(disagreement: Disagreement, fields: DecisionFields) => void} decide
 * @property {() => void} goOn leaves the disagreement as it is
 * @property {() => void} focusDocument
 * @property {(text: string) => void} say
 */

export class DecisionForm {
  /** @param {DecisionFormSettings} settings */
  constructor({ root, parts, words, drafts, decide, goOn, focusDocument, say }) {
    this.root = root;
    this.at = parts;
    this.words = words;
    this.drafts = drafts;
    this.storeDecision = decide;
    this.goOn = goOn;
    this.focusDocument = focusDocument;
    this.announce = say;
    /** @type {Disagreement | null} */
    this.disagreement = null;
    /** @type {Decided | null} */
    this.decided = null;
    /** @type {string | null} */
    this.cause = null;
    this.inGuideline = false;
    /** @type {Decided | null} the choice of which was said that documents alike are settled otherwise */
    this.warnedOf = null;
    /** @type {string | null} the state that was on the screen when Enter was pressed before the pair had come anew */
    this.pressedState = null;
    this.layOut();
  }

  layOut() {
    const { at, words } = this;
    at.causes.setAttribute("aria-label", words.cause);
    at.causes.append(...Object.entries(CAUSE_KEYS).map(([cause, key]) => makeActButton(`cause_${cause}`, words[`cause_${cause}`], key)));
    nameButton(this.button("guideline"), words.inguideline, "g");
    at.rationalelabel.replaceChildren(make("span", "", words.rationale), makeHiddenKey("n"));
    at.rationale.setAttribute("aria-keyshortcuts", "N");
    at.rationale.placeholder = words.rationalehint;
    at.rationale.addEventListener("input", () => {
      this.warnedOf = null;
      this.keep();
      this.say("");
    });
    at.rationale.addEventListener("keydown", (event) => this.key(event));
  }

  /** @param {string} act */
  button(act) { return findActButton(this.root, act); }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (isComposing(event) || event.repeat) return;
    if (event.key === "Escape") this.focusDocument();
    else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) this.decide();
    else return;
    event.preventDefault();
  }

  /**
   * Show another disagreement, or the same as it is now.
   * @param {Disagreement} disagreement
   * @param {boolean} [again] the same: what is chosen and typed stays
   */
  show(disagreement, again = false) {
    const goesOn = again && this.pressedState === JSON.stringify(summarize(disagreement));  // pressed before it had come anew, and nothing is new
    const { barred } = disagreement;
    this.pressedState = null;
    this.disagreement = disagreement;
    this.warnedOf = null;
    if (!again) this.take(this.drafts.read(disagreement.pair) ?? {});
    this.at.asked.hidden = Boolean(barred);
    this.at.barred.hidden = !barred;
    this.at.barred.textContent = barred ? fill(this.words.barred, { why: barred }) : "";
    this.button("withdrawn").hidden = !isWithdrawable(disagreement);
    this.button("unrateable").hidden = Boolean(barred);
    nameButton(this.button("decide"), barred ? this.words.do_next : this.words.do_decide, "⏎");
    this.say("");
    this.paint();
    if (goesOn) this.decide();
  }

  /** @param {Partial<DecisionFields>} fields */
  take({ decided = null, rationale = "", cause = null, in_guideline = false }) {
    this.decided = decided;
    this.cause = cause;
    this.inGuideline = in_guideline;
    this.at.rationale.value = rationale;
  }

  /** @returns {DecisionFields} */
  read() {
    return { decided: this.decided, rationale: this.at.rationale.value.trim(), cause: this.cause, in_guideline: this.inGuideline };
  }

  keep() {
    if (!this.disagreement) return;
    const { pair } = this.disagreement;
    const { decided, cause, in_guideline } = this.read(), rationale = this.at.rationale.value;
    const { refused, before } = this.drafts.read(pair) ?? {};
    const isEmpty = decided === null && !rationale && !cause && !in_guideline && !refused;
    this.drafts.write(pair, isEmpty ? null : { decided, rationale, cause, in_guideline, ...(refused ? { refused, before } : {}) });
  }

  /**
   * Choose. By key the same again stores; by mouse it only chooses, so that a double click stores nothing.
   * @param {Decided} decided
   * @param {boolean} byKey
   */
  choose(decided, byKey) {
    if (this.disagreement?.barred) return this.say(this.words.isbarred, "error");
    if (this.decided === decided && byKey) return this.decide();
    this.decided = decided;
    this.noticeChange();
  }

  /** @param {string} cause */
  toggleCause(cause) {
    this.cause = this.cause === cause ? null : cause;
    this.noticeChange();
  }

  toggleGuideline() {
    this.inGuideline = !this.inGuideline;
    this.noticeChange();
  }

  noticeChange() {
    this.warnedOf = null;
    this.keep();
    this.paint();
    const owed = this.decided !== null && !this.at.rationale.value.trim() ? this.explainOwed() : "";
    if (owed !== this.at.hint.textContent) this.say(owed);  // what is owed still stands there, and is not read out again
  }

  paint() {
    const buttons = [...this.at.asked.querySelectorAll("button"), this.button("unrateable"), this.button("withdrawn")];
    for (const button of buttons) {
      const { act } = button.dataset;
      if (act === undefined) continue;
      const isPressed = act === "guideline" ? this.inGuideline : act.startsWith("cause_") ? act === `cause_${this.cause}` : act === String(this.decided);
      button.setAttribute("aria-pressed", String(isPressed));
    }
    this.at.decision.toggleAttribute("data-chosen", this.decided !== null);
    this.at.rationale.setAttribute("aria-required", String(this.decided !== null && this.explainOwed() !== ""));
  }

  /** Return why words are owed for what is chosen; "" when none are. */
  explainOwed() {
    const { disagreement, decided, words } = this;
    if (!disagreement || decided === "withdrawn") return "";
    if (disagreement.distance !== null && disagreement.distance >= RATIONALE_FROM) return fill(words.owes_distance, { n: disagreement.distance });
    return disagreement.judgments.some(({ outcome, grade }) => (outcome === "graded" ? grade : outcome) === decided) ? "" : words.owes_nobody;
  }

  /** Return the documents with nearly the same text that are settled otherwise than what is chosen. */
  listUnlike() {
    if (!this.disagreement || this.decided === "withdrawn") return [];
    return this.disagreement.neighbours.filter(({ near, grade }) => near !== null && near >= ALIKE_FROM && grade !== null && grade !== this.decided);
  }

  /** Store what is chosen, or say what is missing. */
  decide() {
    const { disagreement, words } = this;
    if (!disagreement) return;
    if (disagreement.barred) return this.goOn();
    if (this.decided === null) return isOpen(disagreement) ? this.say(words.choosefirst, "error") : this.goOn();
    if (disagreement.stale) {
      this.pressedState = JSON.stringify(summarize(disagreement));
      return this.say(words.stale);
    }
    const owed = this.explainOwed();
    if (owed && !this.at.rationale.value.trim()) {
      this.at.decision.toggleAttribute("data-words", true);
      this.at.rationale.focus();
      return this.say(owed, "error");
    }
    const unlike = this.listUnlike();
    if (unlike.length && this.warnedOf !== this.decided) {
      this.warnedOf = this.decided;
      return this.say(fill(words.unlike, { document: unlike[0].title || unlike[0].doc_id, grade: unlike[0].grade, n: unlike.length }), "warning");
    }
    this.storeDecision(disagreement, this.read());
  }

  /**
   * @param {string} text
   * @param {string} [kind]
   */
  say(text, kind = "") {
    this.at.hint.textContent = text;
    this.at.hint.dataset.kind = kind;
    if (text) this.announce(text);
  }
}
