// What is shown of a disagreement beside its document: objections and questions first, since they wait for an answer, and with an
// objection the decision that it is about; then why the pair is here, what each annotator says, earlier decisions, and the query's
// other documents. Everything is set as text.

import { make, makeText } from "../../kit/panel/elements.js";
import { fill } from "../../kit/panel/sentences.js";
import { describeJudgment } from "./disagreements.js";

/** @typedef {import("./messages.js").AnonymousJudgment} AnonymousJudgment */
/** @typedef {import("./messages.js").Disagreement} Disagreement */
/** @typedef {import("./messages.js").Neighbour} Neighbour */
/** @typedef {import("./messages.js").Question} Question */
/** @typedef {import("./messages.js").SeenState} SeenState */

/**
 * What the view needs of the panel.
 * @typedef {object} DisagreementViewSettings
 * @property {HTMLElement} host
 * @property {import("../../kit/panel/sentences.js").Words} words
 * @property {string} language
 * @property {string} username
 * @property {import("./decision_outbox.js").DecisionDrafts} drafts
 * @property {(grade: number) => string} nameGrade
 * @property {(question: number, text: HTMLTextAreaElement, button: HTMLButtonElement) => void} answer
 * @property {() => void} focusDocument
 */

export class DisagreementView {
  /** @param {DisagreementViewSettings} settings */
  constructor({ host, words, language, username, drafts, nameGrade, answer, focusDocument }) {
    this.host = host;
    this.words = words;
    this.username = username;
    this.drafts = drafts;
    this.nameOfGrade = nameGrade;
    this.answer = answer;
    this.focusDocument = focusDocument;
    this.day = new Intl.DateTimeFormat(language, { year: "numeric", month: "short", day: "numeric" });
    this.clock = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
    this.figure = new Intl.NumberFormat(language, { maximumFractionDigits: 3 });
    this.share = new Intl.NumberFormat(language, { style: "percent" });
  }

  /**
   * Return the day and the time of day, written as on the pages ("Jan 2, 2026 12:04").
   * @param {Date} moment
   */
  showMoment(moment) { return `${this.day.format(moment)} ${this.clock.format(moment)}`; }

  /** @param {Disagreement} disagreement */
  show(disagreement) {
    const history = this.drawHistory(disagreement), hasObjections = Boolean(disagreement.objections?.length);
    const parts = [
      this.drawReturned(disagreement), this.drawObjections(disagreement), this.drawQuestions(disagreement), hasObjections ? history : null,
      this.drawReasons(disagreement), ...this.drawTaken(disagreement), this.drawJudgments(disagreement), ...this.drawNotices(disagreement),
      hasObjections ? null : history, this.drawAlike(disagreement), this.drawNeighbours(disagreement),
    ];
    this.host.replaceChildren(...parts.filter((part) => part !== null));
    this.host.scrollTop = 0;
  }

  /**
   * Draw what a refused decision met, above everything else.
   * @param {Disagreement} disagreement
   */
  drawReturned(disagreement) {
    const draft = this.drafts.read(disagreement.pair);
    if (!draft?.refused) return null;
    const list = make("ul");
    list.append(...this.listChanges(disagreement, draft.before).map((change) => makeText("li", change)));
    const part = makePart("notice returned", "", make("p", "", fill(this.words.returned, { why: draft.refused })), list, make("p", "", this.words.kepttyped));
    part.setAttribute("role", "group");
    return part;
  }

  /**
   * Return what is new of a disagreement against what was on the screen.
   * @param {Disagreement} disagreement
   * @param {SeenState | undefined} before
   */
  listChanges({ decisions, judgments }, before) {
    /** @type {string[]} */
    const changes = [];
    if (!before) return changes;
    for (const decision of decisions.filter(({ revision }) => revision > before.revision)) {
      changes.push(fill(this.words.change_decided, { who: decision.by, grade: this.nameOf(decision) }) + (decision.rationale ? ` ${decision.rationale}` : ""));
    }
    const old = [...before.judgments];
    for (const judgment of judgments) {
      const i = old.indexOf(describeJudgment(judgment));
      if (i >= 0) old.splice(i, 1);
      else changes.push(fill(this.words.change_judged, { letter: judgment.letter, grade: this.nameOf(judgment) }) + (judgment.note ? ` ${judgment.note}` : ""));
    }
    return changes;
  }

  /** @param {Disagreement} disagreement */
  drawReasons({ waiting, status, distance, taste, lacking, query, since, impact }) {
    const line = make("p", "why"), { words } = this;
    /**
     * @param {string} text
     * @param {string} [className]
     */
    const addBadge = (text, className = "badge") => line.append(make("span", className, text), " ");
    for (const reason of waiting) addBadge(words[`why_${reason}`], "badge reason");
    if (!waiting.length) addBadge(this.nameStatus(status));
    if (distance) addBadge(fill(words.distance, { n: distance }));
    if (taste) addBadge(words.taste);
    if (lacking) addBadge(fill(words.lacking, { n: lacking }));
    if (query.category) addBadge(query.category);
    const quiet = [since ? fill(words.since, { when: this.day.format(new Date(since)) }) : "", this.describeImpact(impact)].filter(Boolean);
    return makePart("whypart", words.why_title, line, make("p", "small", quiet.join(" · ")));
  }

  /** @param {Disagreement["impact"]} impact */
  describeImpact(impact) {
    if (!impact || impact.ndcg === null) return "";
    const { words, figure } = this;
    const parts = [fill(words.impact, { ndcg: figure.format(impact.ndcg) })];
    if (impact.recall !== null) parts.push(fill(words.impact_more, { recall: figure.format(impact.recall), mrr: figure.format(impact.mrr ?? 0) }));
    if (impact.flips) parts.push(fill(words.flips, { n: impact.flips }));
    return parts.join(" · ");
  }

  /**
   * Draw before whom it is open, and to whom it was given: what one knows before one begins.
   * @param {Disagreement} disagreement
   */
  drawTaken({ held_by_name, assigned_to, assigned_to_name }) {
    const { words } = this, lines = [];
    if (held_by_name) lines.push(fill(words.heldby, { who: held_by_name }));
    if (assigned_to) lines.push(assigned_to === this.username ? words.assignedyou : fill(words.assignedto, { who: assigned_to_name }));
    return lines.map((line) => makeText("p", line, "notice"));
  }

  /** @param {Disagreement} disagreement */
  drawNotices({ text_changed, contested_grade, decisions, discussion, needs_second, proposals, proposal }) {
    const { words } = this, lines = [];
    if (text_changed) lines.push(words.textchanged);
    if (typeof contested_grade === "number" && !decisions.length) lines.push(fill(words.contested, { grade: this.nameGrade(contested_grade) }));
    if (discussion) lines.push(this.describeDiscussion(discussion));
    if (needs_second) lines.push(words.needssecond);
    for (const proposed of proposals ?? (proposal ? [proposal] : [])) {
      const sentence = fill(proposed.yours ? words.proposalyours : words.proposalother, { who: proposed.by, grade: this.nameOf(proposed) });
      lines.push(sentence + (proposed.rationale ? ` ${proposed.rationale}` : ""));
    }
    return lines.map((line) => makeText("p", line, "notice"));
  }

  /** @param {NonNullable<Disagreement["discussion"]>} discussion */
  describeDiscussion({ state, asked_at, waiting = [] }) {
    const sentence = fill(this.words[`discussion_${state}`] ?? state, { when: this.showMoment(new Date(asked_at)) });
    return [sentence, [...waiting].sort().join(" · ")].filter(Boolean).join("\n");
  }

  /** @param {Disagreement} disagreement */
  drawJudgments({ judgments, guideline_version }) {
    const { words } = this;
    if (!judgments.length) return makePart("judgments", words.judgments, make("p", "small", words.nojudgments));
    const columns = make("div", "columns");
    columns.append(...judgments.map((judgment) => this.drawJudgment(judgment, guideline_version)));
    return makePart("judgments", words.judgments, columns);
  }

  /**
   * @param {AnonymousJudgment} judgment
   * @param {number} newestVersion of the guideline
   */
  drawJudgment(judgment, newestVersion) {
    const { words } = this;
    const column = make("article", "column");
    column.append(make("h3", "", fill(words.annotator, { letter: judgment.letter })), makeText("p", this.nameOf(judgment), "said"));
    const badges = [];
    if (judgment.quality) badges.push(words.mark_quality);
    if (judgment.simulated) badges.push(words.mark_simulated);
    if (judgment.guideline_version < newestVersion) badges.push(fill(words.mark_guideline, { n: judgment.guideline_version }));
    for (const badge of badges) column.append(make("span", "badge", badge), " ");
    if (judgment.note) column.append(makeText("p", judgment.note, "note"));
    const { turn } = judgment;
    if (turn) {
      column.append(makeText("p", fill(turn.revised ? words.turn_revised : words.turn_stands, { grade: this.nameOf(turn) }), "turn"));
      if (turn.note) column.append(makeText("p", turn.note, "note"));
    }
    return column;
  }

  /** @param {Disagreement} disagreement */
  drawObjections({ objections }) {
    if (!objections?.length) return null;
    const lines = objections.map(({ letter, objected_at, text }) =>
      makeText("p", `${fill(this.words.annotator, { letter })} (${this.day.format(new Date(objected_at))}): ${text}`, "note"));
    return makePart("objections", this.words.objections, ...lines);
  }

  /** @param {Disagreement} disagreement */
  drawQuestions({ questions }) {
    if (!questions?.length) return null;
    const parts = questions.flatMap((question) => {
      const asker = question.letter ? fill(this.words.annotator, { letter: question.letter }) + ": " : "";
      const answer = question.answer ? makeText("p", fill(this.words.answered, { answer: question.answer }), "note answer") : this.drawAnswerBox(question);
      return [makeText("p", asker + question.text, "note"), answer];
    });
    return makePart("questions", this.words.questions, ...parts);
  }

  /** @param {Question} question */
  drawAnswerBox({ number }) {
    const box = make("div", "answerbox"), text = make("textarea");
    Object.assign(text, { rows: 1, maxLength: 5000, dir: "auto", placeholder: this.words.answerhint });
    text.setAttribute("aria-label", this.words.answerhint);
    const button = make("button", "", this.words.do_answer);
    button.type = "button";
    button.addEventListener("click", () => this.answer(number, text, button));
    text.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && !event.isComposing) this.focusDocument();
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing && !event.repeat) this.answer(number, text, button);
    });
    box.append(text, button);
    return box;
  }

  /** @param {Disagreement} disagreement */
  drawAlike({ neighbours }) {
    const alike = neighbours.filter(({ near }) => near !== null);
    return alike.length ? makePart("alike", this.words.alike, this.listDocuments(alike)) : null;
  }

  /** @param {Disagreement} disagreement */
  drawNeighbours({ neighbours }) {
    const others = neighbours.filter(({ near }) => near === null);
    if (!others.length) return null;
    const box = make("details", "neighbours");
    box.append(make("summary", "", fill(this.words.neighbours, { n: others.length })));
    box.addEventListener("toggle", () => { if (box.open && box.childElementCount === 1) box.append(this.listDocuments(others)); });
    return box;
  }

  /** @param {Neighbour[]} documents */
  listDocuments(documents) {
    const list = make("ul", "documents");
    for (const { doc_id, title, grade, status, near } of documents) {
      const gradeElement = make("span", "grade", grade ?? "–");
      gradeElement.title = grade === null ? this.nameStatus(status) : this.nameGrade(grade);
      const name = makeText("span", title || doc_id, "name");
      name.title = doc_id;
      const alike = near === null ? "" : fill(this.words.near, { share: this.share.format(Math.floor(near * 100) / 100) });
      const line = make("li");
      line.append(gradeElement, name, make("span", "small", [alike, this.nameStatus(status)].filter(Boolean).join(" · ")));
      list.append(line);
    }
    return list;
  }

  /** @param {Disagreement} disagreement */
  drawHistory({ decisions }) {
    if (!decisions.length) return null;
    const list = make("ol", "history");
    for (const decision of [...decisions].reverse()) {
      const cause = decision.cause ? this.words[`cause_${decision.cause}`] : decision.reason;
      const details = [cause, decision.in_guideline ? this.words.inguideline : ""].filter(Boolean).join(" · ");
      const when = decision.decided_at ? this.showMoment(new Date(decision.decided_at)) : this.words.justnow;
      const line = make("li");
      line.append(make("strong", "", this.nameOf(decision)), make("span", "small", ` ${decision.yours ? this.words.byyou : decision.by} · ${when}${details ? " · " + details : ""}`));
      if (decision.rationale) line.append(makeText("p", decision.rationale, "note"));
      list.append(line);
    }
    return makePart("decided", this.words.history, list);
  }

  /** @param {import("./messages.js").Graded} graded */
  nameOf({ outcome, grade }) {
    if (outcome === "graded" && grade !== null) return this.nameGrade(grade);
    return outcome === "withdrawn" ? this.words.withdrawn : this.words.unrateable;
  }

  /** @param {number} grade */
  nameGrade(grade) { return `${grade} · ${this.nameOfGrade(grade)}`; }

  /** @param {string} status */
  nameStatus(status) { return this.words[`status_${status}`] ?? status; }
}

/**
 * @param {string} className
 * @param {string} title
 * @param {HTMLElement[]} parts
 */
function makePart(className, title, ...parts) {
  const section = make("section", className);
  if (title) section.append(make("h2", "", title));
  section.append(...parts);
  return section;
}
