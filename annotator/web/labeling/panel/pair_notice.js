// What stands above a document: why an answered pair is on the screen again and what its annotator said of it, or what
// training has to say. Its button and Enter do the one thing that goes on.

import { make, makeActButton, makeText } from "../../kit/panel/elements.js";
import { fill } from "../../kit/panel/sentences.js";

/** @typedef {import("./messages.js").Answer} Answer */
/** @typedef {import("./messages.js").Feedback} Feedback */
/** @typedef {import("./messages.js").JudgmentEvent} JudgmentEvent */
/** @typedef {import("./messages.js").Pair} Pair */
/** @typedef {import("./messages.js").Training} Training */

export class PairNotice {
  /**
   * @param {object} settings
   * @param {HTMLElement} settings.host
   * @param {HTMLElement} settings.grades the buttons of the grades
   * @param {import("../../kit/panel/sentences.js").Words} settings.words
   * @param {(grade: number) => string} settings.nameGrade
   * @param {(text: string) => void} settings.say
   */
  constructor({ host, grades, words, nameGrade, say }) {
    this.host = host;
    this.grades = grades;
    this.words = words;
    this.nameGrade = nameGrade;
    this.say = say;
    /** @type {JudgmentEvent | null} the answer to a training pair that waits for its explanation, or is being explained */
    this.event = null;
    /** @type {Feedback | null} its explanation */
    this.feedback = null;
    /** @type {Training | null} how far the training is */
    this.training = null;
    this.wasTraining = false;
  }

  /**
   * Show what belongs to the pair that comes to the screen.
   * @param {Pair} pair
   */
  show(pair) {
    this.event = null;
    this.feedback = null;
    if (pair.outdated) this.showOutdated(pair);
    else if (pair.training) this.fill([makeLine(this.describeProgress(), this.words.training_hint)]);
    else if (pair.answer) this.fill([makeLine(fill(this.words.answered, { answer: this.nameAnswer(pair.answer) }), "")], makeActButton("confirm", this.words.keep, "⏎"));
    else this.hide();
  }

  /** @param {string} text what is graded of a query of which nothing is left */
  showEnd(text) { this.fill([makeLine(text, "")], makeActButton("confirm", this.words.nextquery, "⏎", "primary")); }

  /** @param {Pair} pair */
  showOutdated(pair) {
    const reasons = [];
    if (pair.outdated?.version) reasons.push(fill(this.words.older_standard, { n: pair.outdated.version }));
    if (pair.outdated?.text_changed) reasons.push(this.words.older_text);
    const changes = makeActButton("changes", this.words.whatchanged);
    const confirm = pair.answer ? [makeActButton("confirm", this.words.confirm, "⏎", "primary")] : [];
    this.fill([makeLine(reasons.join(" "), pair.answer ? this.describeOwnAnswer(pair.answer) : "")], changes, ...confirm);
  }

  /** @param {Answer} answer */
  describeOwnAnswer(answer) { return fill(this.words.youranswer, { answer: this.nameAnswer(answer) }); }

  /** @param {Pick<Answer, "outcome" | "grade" | "reason">} answer */
  nameAnswer({ outcome, grade, reason }) {
    if (outcome === "graded" && grade !== null) return `${grade} ${this.nameGrade(grade)}`;
    return reason ? `${this.words.do_unrateable} (${this.words[`reason_${reason}`]})` : this.words.do_unrateable;
  }

  // ---- training -----------------------------------------------------------------------------------------

  /** Whether an answer waits for its explanation: nothing else goes on until the server has said what is right. */
  get isWaiting() { return this.event !== null && this.feedback === null; }

  /** Whether an answer is being explained. */
  get isExplained() { return this.event !== null && this.feedback !== null; }

  /** Whether training holds the next pair back. */
  get isHolding() { return this.event !== null; }

  /**
   * Wait for what is right: the answer to a training pair is on its way.
   * @param {JudgmentEvent} event
   */
  wait(event) {
    this.event = event;
    this.feedback = null;
    this.markGrades(event.grade, null);
    this.fill([makeLine(this.describeProgress(), this.words.training_waits)]);
  }

  /**
   * Explain an answer. The explanation may come after a reload, or be asked for by another tab: then that tab shows it.
   * @param {Feedback} feedback
   * @param {JudgmentEvent | undefined} event the answer, if it was in the same request
   * @param {string} tab this one
   * @returns {boolean} whether it is shown here
   */
  explain(feedback, event, tab) {
    if (!this.event && event?.tab === tab) this.event = event;
    if (!this.event || this.event.id !== feedback.id) return false;
    this.feedback = feedback;
    const { outcome, grade, reason } = this.event;
    const isRight = grade === feedback.grade && outcome === "graded";
    const name = this.nameGrade(feedback.grade);
    const verdict = isRight ? fill(this.words.training_right, { grade: feedback.grade, name })
      : fill(this.words.training_wrong, { grade: feedback.grade, name, answer: this.nameAnswer({ outcome, grade, reason }) });
    const explanation = feedback.explanation ? [makeText("p", feedback.explanation, "explanation")] : [];
    const goOn = makeActButton("goon", this.words.goon, "⏎", "primary");
    this.fill([makeLine(verdict, ""), ...explanation, makeLine("", this.describeTraining())], goOn);
    this.markGrades(grade, feedback.grade);
    this.host.dataset.kind = isRight ? "right" : "wrong";
    this.say(`${verdict} ${feedback.explanation} ${this.describeTraining()}`);
    goOn.focus({ preventScroll: true });
    return true;
  }

  /**
   * Mark on the grades what was answered, and what is right.
   * @param {number | null | undefined} answered
   * @param {number | null} right
   */
  markGrades(answered, right) {
    for (const button of this.grades.querySelectorAll("button")) {
      const grade = Number(button.dataset.act);
      button.setAttribute("aria-pressed", String(grade === answered));
      button.toggleAttribute("data-right", right !== null && grade === right);
    }
  }

  /** Return what the latest answer means for the training as a whole. */
  describeTraining() {
    const { training, words } = this;
    if (!training) return this.wasTraining ? words.training_over : "";
    const figures = { right: training.right, total: training.total, required: Math.round(training.required * 100) };
    if (training.passed) return fill(words.training_passed, figures);
    return training.done >= training.total ? fill(words.training_again, figures) : this.describeProgress();
  }

  describeProgress() {
    return this.training ? fill(this.words.training, { n: this.training.done, m: this.training.total }) : this.words.training_plain;
  }

  /** @param {Training | null} training */
  setTraining(training) {
    this.wasTraining ||= this.training !== null;
    this.training = training;
  }

  // ---- drawing ------------------------------------------------------------------------------------------

  /**
   * @param {HTMLElement[]} lines
   * @param {HTMLElement[]} buttons
   */
  fill(lines, ...buttons) {
    delete this.host.dataset.kind;
    const texts = make("div", "texts");
    texts.append(...lines);
    this.host.replaceChildren(texts, ...buttons);
    this.host.hidden = false;
  }

  hide() {
    this.event = null;
    this.feedback = null;
    if (this.host.hidden) return;
    this.host.hidden = true;
    this.host.replaceChildren();
  }
}

/**
 * @param {string} strong
 * @param {string} rest
 */
function makeLine(strong, rest) {
  const line = make("p");
  if (strong) line.append(make("strong", "", strong), " ");
  line.append(rest);
  line.dir = "auto";
  return line;
}
