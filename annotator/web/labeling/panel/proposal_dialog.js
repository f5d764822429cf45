// Documents that the pool missed: search the dataset as one types, read a document as the panel shows it, grade it, propose it.
// A document whose pair was handed to the annotator is simply judged, through the outbox. Other pairs of the pool come by
// themselves: nothing here tells which of them are open, finished or checks. What was chosen
// and typed is kept in this browser, with the id under which it is sent, until the server has it.

import { readStored, writeStored } from "../../kit/panel/browser_storage.js";
import { openDialog } from "../../kit/panel/dialogs.js";
import { DocumentView } from "../../kit/panel/document_view.js";
import { findAround, make, makeButton, makeText, nameButton } from "../../kit/panel/elements.js";
import { newId } from "../../kit/panel/ids.js";
import { findGrade, hasModifier, isComposing } from "../../kit/panel/keys.js";
import { extractTerms } from "../../kit/panel/query_terms.js";
import { asRequestError, askServer, postJson } from "../../kit/panel/requests.js";
import { fill } from "../../kit/panel/sentences.js";
import { markTerms } from "./snippets.js";
import { describeFailure } from "./send_failure.js";

const TYPE_MS = 80;
const PREPARE_MS = 700;
const RETRY_MS = 2000;

/** @typedef {import("./messages.js").Pair} Pair */
/** @typedef {import("./messages.js").NewAnswer} NewAnswer */

/**
 * A document that a search found; `pair` if its pair was handed to the annotator.
 * @typedef {object} FoundDocument
 * @property {string} doc_id
 * @property {string | null} title
 * @property {string} snippet
 * @property {"new" | "in pool" | "judged by you"} state
 * @property {string | null} pair
 */

/** @typedef {Pick<FoundDocument, "state" | "pair">} DocumentState */

/** @typedef {import("../../kit/panel/messages.js").PairDocument & { guideline_version: number }} ReadDocument */

/** What is chosen and typed. @typedef {{ typed: string, doc_id: string | null, grade: number | null, note: string, id: string | null }} ProposalDraft */

/**
 * What the dialog needs of the panel.
 * @typedef {object} ProposalSettings
 * @property {string} username
 * @property {string} dataset
 * @property {string} language
 * @property {import("../../kit/panel/messages.js").GradeDefinition[]} grades
 * @property {(pair: Pair, answer: NewAnswer) => boolean} judge keeps an answer; false if this browser refused to
 * @property {(text: string) => void} remark
 */

export class ProposalDialog {
  /**
   * Open it.
   * @param {import("../../kit/panel/dialogs.js").DialogHost} host
   * @param {ProposalSettings} settings
   * @param {Pair} pair for whose query a document is looked for
   */
  constructor(host, settings, pair) {
    this.settings = settings;
    this.words = host.words;
    this.query = pair.query;
    this.key = `annotator/proposal/${encodeURIComponent(settings.username)}/${encodeURIComponent(settings.dataset)}/${encodeURIComponent(pair.query.query_id)}`;
    /** @type {ProposalDraft} */
    this.draft = readStored(this.key) ?? { typed: "", doc_id: null, grade: null, note: "", id: null };
    /** @type {FoundDocument[]} */
    this.found = [];
    this.position = -1;
    this.searchNumber = 0;
    this.readNumber = 0;
    /** @type {ReadDocument | null} */
    this.shown = null;
    /** @type {DocumentState} */
    this.shownState = { state: "new", pair: null };
    /** @type {number | undefined} */
    this.typing = undefined;

    this.input = this.makeInput();
    this.hint = make("p", "dialoghint");
    this.hint.setAttribute("role", "status");
    this.options = this.makeOptions();
    this.viewer = make("div", "viewer proposalviewer");
    this.viewer.hidden = true;
    this.view = new DocumentView(this.viewer, { ...settings, words: this.words, isProposed: true });
    this.grades = this.makeGrades();
    this.note = this.makeNote();
    this.send = makeButton(this.words.propose_send, "⏎", "primary");
    this.send.addEventListener("click", () => this.submit());
    this.answer = make("div", "proposalanswer");
    this.answer.hidden = true;
    this.answer.append(this.grades, makeLabel(this.words.note, this.note.id), this.note, this.send);
    this.status = make("p", "dialogstatus", this.words.propose_choose);
    this.status.setAttribute("role", "status");

    this.dialog = openDialog(host, "proposing", this.words.propose_title, [makeText("p", this.query.text, "dialogabout"), this.makeBody()]);
    this.dialog.addEventListener("keydown", (event) => this.press(event));
    this.dialog.addEventListener("close", () => { this.searchNumber++; });
    this.input.value = this.draft.typed;
    this.input.focus();
    this.search();
    if (this.draft.doc_id) this.read(this.draft.doc_id);
  }

  // ---- parts ----------------------------------------------------------------------------------------------

  makeBody() {
    const search = make("div", "proposalsearch");
    search.append(makeLabel(this.words.propose_search, this.input.id), this.input, this.hint, this.options);
    const reading = make("div", "proposalreading");
    reading.append(this.viewer, this.answer, this.status);
    const body = make("div", "proposalbody");
    body.append(search, reading);
    return body;
  }

  makeInput() {
    const input = make("input");
    Object.assign(input, { type: "text", enterKeyHint: "search", dir: "auto", maxLength: 500, autocomplete: "off", spellcheck: false, id: "proposesearch" });
    for (const [name, value] of [["role", "combobox"], ["aria-controls", "proposefound"], ["aria-expanded", "false"], ["aria-autocomplete", "list"]]) input.setAttribute(name, value);
    input.addEventListener("input", () => {
      this.keep({ typed: input.value });
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.search(), TYPE_MS);
    });
    return input;
  }

  makeOptions() {
    const options = make("div", "found");
    options.id = "proposefound";
    options.setAttribute("role", "listbox");
    options.setAttribute("aria-label", this.words.propose_found);
    options.addEventListener("click", (event) => {
      const option = findAround(event, "[role=option]");
      const position = option ? [...options.children].indexOf(option) : -1;
      if (position < 0) return;
      this.point(position);
      this.choose();
    });
    return options;
  }

  makeGrades() {
    const grades = make("div", "proposalgrades");
    grades.setAttribute("role", "group");
    grades.setAttribute("aria-label", this.words.propose_grade);
    grades.append(...this.settings.grades.map(({ grade, name }) => {
      const button = makeButton(name, String(grade));
      button.dataset.grade = String(grade);
      button.addEventListener("click", () => this.setGrade(grade));
      return button;
    }));
    return grades;
  }

  makeNote() {
    const note = make("textarea");
    Object.assign(note, { rows: 2, maxLength: 10000, dir: "auto", id: "proposenote", value: this.draft.note });
    note.addEventListener("input", () => this.keep({ note: note.value }));
    return note;
  }

  // ---- searching --------------------------------------------------------------------------------------------

  async search() {
    const searchNumber = ++this.searchNumber, typed = this.input.value.trim();
    const isWanted = () => searchNumber === this.searchNumber;
    /** @param {number} ms */
    const searchAgainIn = (ms) => setTimeout(() => { if (isWanted()) this.search(); }, ms);
    let answer;
    try { answer = await askServer("/api/search", { dataset: this.settings.dataset, q: typed, query: this.query.query_id }); } catch (error) {
      if (!isWanted()) return;
      const { status } = asRequestError(error);
      this.hint.textContent = status === 403 ? this.words.propose_notyours : this.words.why_unreachable_once;
      if (!status || status === 429) searchAgainIn(RETRY_MS);  // 429: another tab of this person searches too
      return;
    }
    if (!isWanted()) return;
    if (answer.preparing !== null) {
      this.hint.textContent = fill(this.words.propose_preparing, { n: Math.floor(100 * answer.preparing) });
      searchAgainIn(PREPARE_MS);
      return;
    }
    this.paintFound(answer, typed);
  }

  /**
   * @param {{ documents: FoundDocument[], most_characters: number | null }} answer
   * @param {string} typed
   */
  paintFound({ documents, most_characters }, typed) {
    this.found = documents;
    this.position = -1;
    this.options.replaceChildren(...documents.map((document, i) => this.makeOption(document, i)));
    this.input.setAttribute("aria-expanded", String(documents.length > 0));
    this.input.removeAttribute("aria-activedescendant");
    const beginning = most_characters ? ` ${fill(this.words.propose_beginning, { n: this.formatNumber(most_characters) })}` : "";
    this.hint.textContent = (typed.length < 2 ? this.words.propose_type : documents.length ? fill(this.words.propose_count, { n: documents.length }) : this.words.propose_none) + beginning;
    const shownAgain = documents.find((document) => document.doc_id === this.shown?.doc_id);
    if (shownAgain) this.paintAnswer(shownAgain);
  }

  /**
   * @param {FoundDocument} document
   * @param {number} position
   */
  makeOption(document, position) {
    const option = make("div", "row");
    option.id = `proposefound${position}`;
    option.setAttribute("role", "option");
    option.setAttribute("aria-selected", "false");
    const snippet = makeText("span", "", "rowsnippet");
    snippet.append(...markTerms(document.snippet, extractTerms(this.input.value)));
    option.append(makeText("span", document.title || document.doc_id, "rowtitle"));
    if (document.state !== "new") option.append(make("span", "rowstate", document.state === "in pool" ? this.words.propose_inpool : this.words.propose_judged));
    option.append(make("span", "rowid", document.title ? document.doc_id : ""), snippet);
    return option;
  }

  /** @param {number} position */
  point(position) {
    this.position = position;
    [...this.options.children].forEach((option, i) => option.setAttribute("aria-selected", String(i === position)));
    this.input.setAttribute("aria-activedescendant", `proposefound${position}`);
    this.options.children[position]?.scrollIntoView({ block: "nearest" });
  }

  // ---- reading and answering --------------------------------------------------------------------------------

  choose() {
    const document = this.found[this.position];
    if (!document) return;
    if (document.doc_id !== this.draft.doc_id) this.keep({ doc_id: document.doc_id, grade: null, id: null });
    this.read(document.doc_id, document);
  }

  /**
   * @param {string} docId
   * @param {FoundDocument | null} [chosen] if it was chosen from the list
   */
  async read(docId, chosen = null) {
    const readNumber = ++this.readNumber;
    /** @type {ReadDocument} */
    let document;
    try { document = await askServer("/api/document", { dataset: this.settings.dataset, doc_id: docId }); } catch (error) {
      if (readNumber === this.readNumber) this.status.textContent = asRequestError(error).status === 404 ? this.words.propose_gone : this.words.why_unreachable_once;
      return;
    }
    if (readNumber !== this.readNumber) return;
    this.shown = document;
    this.viewer.hidden = false;
    this.view.show({ pair: docId, query: this.query, document });
    this.paintAnswer(chosen ?? this.found.find((other) => other.doc_id === docId) ?? { state: "new", pair: null });
    if (chosen) this.view.focus();
  }

  /**
   * Show what can be done with the document: propose it, judge it, or nothing more.
   * @param {DocumentState} document
   */
  paintAnswer(document) {
    this.shownState = document;
    const isClosed = document.state === "judged by you" || (document.state === "in pool" && !document.pair);
    this.answer.hidden = isClosed;
    if (isClosed) this.status.textContent = document.state === "in pool" ? this.words.propose_inpool_long : this.words.propose_judged_long;
    else this.status.textContent = document.pair ? this.words.propose_open_long : "";
    nameButton(this.send, document.pair ? this.words.propose_judge : this.words.propose_send, "⏎");
    this.paintGrade();
  }

  /** @param {number} grade */
  setGrade(grade) {
    this.keep({ grade, id: this.draft.grade === grade ? this.draft.id : null });
    this.paintGrade();
  }

  paintGrade() {
    for (const button of this.grades.querySelectorAll("button")) button.setAttribute("aria-pressed", String(Number(button.dataset.grade) === this.draft.grade));
  }

  /** @param {KeyboardEvent} event */
  press(event) {
    if (hasModifier(event) || isComposing(event)) return;
    if (event.target === this.input) return this.pressInSearch(event);
    if (event.target === this.note || this.answer.hidden) return;
    const grade = event.repeat ? null : findGrade(event);
    if (grade !== null) {
      event.preventDefault();
      this.setGrade(grade);
    } else if (event.key === "/" && !event.repeat) {
      event.preventDefault();
      this.input.focus();
      this.input.select();
    } else if (event.key === "Enter" && !event.repeat && !findAround(event, "button")) {
      event.preventDefault();
      this.submit();
    }
  }

  /** @param {KeyboardEvent} event */
  pressInSearch(event) {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step && this.found.length) {
      event.preventDefault();
      this.point(Math.max(0, Math.min(this.found.length - 1, this.position + step)));
    } else if (event.key === "Enter" && !event.repeat) {
      event.preventDefault();
      if (this.position < 0 && this.found.length) this.point(0);
      this.choose();
    }
  }

  async submit() {
    if (!this.shown || this.answer.hidden || this.send.disabled) return;
    if (this.draft.grade === null) {
      this.status.textContent = this.words.propose_nograde;
      return;
    }
    if (this.shownState.pair) return this.judge(this.shownState.pair, this.shown);
    this.keep({ id: this.draft.id ?? newId() });
    this.send.disabled = true;
    this.status.textContent = "";
    const { status } = await postJson("/api/proposals", {
      dataset: this.settings.dataset, query_id: this.query.query_id, doc_id: this.shown.doc_id, id: this.draft.id, grade: this.draft.grade,
      note: this.note.value, document_sha256: this.shown.sha256, guideline_version: this.shown.guideline_version,
    });
    this.send.disabled = false;
    if (status >= 200 && status <= 299) return this.finish(this.words.propose_sent);
    this.status.textContent = describeFailure(this.words, status, { 403: this.words.propose_notyours, 404: this.words.propose_gone, 409: this.words.propose_inpool_long });
    if (status === 409) this.search();
  }

  /**
   * Judge a document that is in the pool already, and open: an ordinary answer, kept in the outbox before anything else.
   * @param {string} pairKey
   * @param {ReadDocument} document
   */
  judge(pairKey, document) {
    const pair = { pair: pairKey, query: this.query, document, answer: null, guideline_version: document.guideline_version };
    if (this.settings.judge(pair, { outcome: "graded", grade: this.draft.grade, note: this.note.value })) this.finish(this.words.propose_judged_now);
    else this.status.textContent = this.words.why_storage;
  }

  /** @param {string} remark */
  finish(remark) {
    writeStored(this.key, null);
    this.dialog.close();
    this.settings.remark(remark);
  }

  /** @param {Partial<ProposalDraft>} change */
  keep(change) {
    Object.assign(this.draft, change);
    writeStored(this.key, this.draft);
  }

  /** @param {number} number */
  formatNumber(number) { return number.toLocaleString(this.settings.language); }
}

/**
 * @param {string} text
 * @param {string} fieldId
 */
function makeLabel(text, fieldId) {
  const label = make("label", "dialoglabel", text);
  label.htmlFor = fieldId;
  return label;
}
