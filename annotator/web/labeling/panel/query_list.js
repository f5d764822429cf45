// Whole-query mode: all documents of a query as a list, for those who judge by comparison. The focused row is the pair on
// the screen: its document stands beside the list, a press binds to it and goes on to the next row that is not done. What
// is put off waits at the end until the rest is done. In training the list steps aside, since its pairs are of many queries.
// Nothing here stores or sends: answers go through the panel, its outbox and its exchange, as in any other mode.

import { findAround, findFocused, make, makeText, runWhenIdle } from "../../kit/panel/elements.js";
import { TYPING, findActOfLetter, findGrade, hasModifier, isComposing } from "../../kit/panel/keys.js";
import { fill } from "../../kit/panel/sentences.js";
import { LABELING_KEYS } from "./labeling_keys.js";
import { cutSnippet } from "./snippets.js";

export const MOST_OF_A_QUERY = 200;
const MOST_REMEMBERED_QUERIES = 5;
const HOLD_MS = 600;  // a press this soon after the last grade was meant for a further row
const MODE_KEY = "annotator/whole";
const FINAL_REFUSALS = ["not_in_pool", "settled", "disclosed", "not_yours", "too_many"];  // they hold for every further answer to the pair

/** @typedef {import("./messages.js").Answer} Answer */
/** @typedef {import("./messages.js").ExchangeAnswer} ExchangeAnswer */
/** @typedef {import("./messages.js").ExchangeRequest} ExchangeRequest */
/** @typedef {import("./messages.js").Pair} Pair */

/**
 * @typedef {object} ListRow
 * @property {Pair} pair
 * @property {HTMLElement} element
 * @property {HTMLElement} mark
 * @property {HTMLElement} state
 * @property {HTMLElement} snippet
 * @property {Answer | null} seenAnswer the answer when the row was left last
 * @property {number} answeredAt its place among the rows answered; 0: not yet
 * @property {boolean} putOff
 * @property {boolean} closed it needs nothing more
 */

export class QueryList {
  /**
   * @param {HTMLElement} host
   * @param {import("./panel.js").LabelingPanel} panel
   */
  constructor(host, panel) {
    this.panel = panel;
    this.words = panel.words;
    /** @type {ListRow[]} */
    this.rows = [];
    /** @type {string | null} the id of the query */
    this.query = null;
    /** @type {ListRow[][]} the queries before */
    this.past = [];
    /** Whether the list waits for the end of training. */
    this.isAside = false;
    this.isSecondRound = false;
    /** When the last row was answered, in ms since the page was opened; null: some are open. Then the query stays until Enter. */
    this.doneAt = /** @type {number | null} */ (null);
    this.answerCount = 0;
    this.count = make("span", "listcount");
    const head = make("div", "listhead");
    head.append(this.count, make("span", "listhint", this.words.list_hint));
    this.box = make("div", "rows");
    this.box.setAttribute("role", "listbox");
    this.box.setAttribute("aria-label", this.words.list_label);
    this.box.addEventListener("click", (event) => this.click(event));
    host.append(head, this.box);
  }

  // ---- what the panel calls -----------------------------------------------------------------------------

  open() {
    rememberListMode(true);
    this.past = [];
    this.isAside = false;
    this.clear();
    this.panel.queue = [];
    this.panel.paintEmpty(this.words.loading);
    this.ask();
  }

  close() {
    rememberListMode(false);
    this.clear();
  }

  clear() {
    this.rows = [];
    this.query = null;
    this.isSecondRound = false;
    this.doneAt = null;
    this.box.replaceChildren();
  }

  /** Whether a grade pressed now was meant for a row that does not exist. */
  isHolding() { return this.doneAt !== null && performance.now() - this.doneAt < HOLD_MS; }

  /**
   * Leave the screen to training, whose pairs come one by one; the first other pair brings the list back.
   * @param {ExchangeAnswer} answer
   * @returns {boolean} whether it does
   */
  stepsAside({ pairs }) {
    if (this.isAside || !this.panel.isWholeQuery || this.rows.length || !pairs[0]?.training) return false;
    this.clear();
    this.isAside = true;
    this.panel.showList(false);
    this.panel.remark.show(this.words.list_training);
    return true;
  }

  resume() {
    this.panel.showList(true);
    this.open();
  }

  /** Return the pairs that still want an answer: the server keeps them for this annotator. */
  listOpenPairs() { return this.rows.filter((row) => !isDone(row)).map((row) => row.pair.pair).slice(0, MOST_OF_A_QUERY); }

  /**
   * Take the pairs of one query. What was pressed here and is on its way counts as answered.
   * @param {Pair[]} pairs
   */
  take(pairs) {
    if (!this.panel.isWholeQuery) return;
    const present = new Set(this.rows.map((row) => row.pair.pair));
    const waiting = new Map(this.panel.outbox.list().map((event) => [event.pair, event]));
    for (const pair of pairs) {
      if (present.has(pair.pair) || (this.query && pair.query.query_id !== this.query)) continue;
      const event = waiting.get(pair.pair);
      if (event?.outcome === "later") pair.putOff = true;
      else if (event) pair.answer ??= { outcome: event.outcome, grade: event.grade, note: event.note, reason: event.reason ?? null };
      this.rows.push(this.makeRow(pair));
    }
    if (!this.rows.some((row) => !isDone(row)) && !this.query) {
      this.rows = [];
      return;
    }
    this.query ??= this.rows[0].pair.query.query_id;
    this.putLaterLast();
    this.paint();
    this.makeSnippets();
    if (!this.current) this.next();
  }

  /**
   * Take notice of what the server says to what was pressed: a refused answer is taken back, and what needs nothing more is closed.
   * @param {ExchangeAnswer} answer
   * @param {ExchangeRequest} request
   */
  hear(answer, request) {
    const refused = answer.refused.filter(({ code }) => FINAL_REFUSALS.includes(code)).map(({ id }) => request.events.find((event) => event.id === id)?.pair);
    const needless = new Set([...(answer.judged ?? []), ...refused]);
    const closing = this.rows.filter((row) => needless.has(row.pair.pair) && !row.pair.answer && !row.closed);
    for (const row of closing) row.closed = true;
    const { current } = this;
    if (current && closing.includes(current) && !refused.length) this.panel.saveStatus.elsewhere.set(current.pair.pair, "needless");
    if (closing.length || answer.refused.length) this.paint();
    const open = this.doneAt === null ? undefined : this.rows.find((row) => !isDone(row) && !row.putOff);
    if (open) {
      this.doneAt = null;
      this.show(open);
    }
  }

  /**
   * Use a key that is the list's own. Other keys are the panel's, also while the focus is in the list.
   * @param {KeyboardEvent} event
   * @returns {boolean} whether it was
   */
  key(event) {
    if (!this.rows.length || hasModifier(event) || isComposing(event)) return false;
    const target = event.composedPath()[0];
    const isInside = target instanceof Element && this.box.contains(target);
    if (!isInside && target instanceof HTMLElement && (target.isContentEditable || target.closest(TYPING))) return false;
    const step = findStep(event, isInside);
    if (step !== null) {
      this.move(step);
      return true;
    }
    if (!isInside || event.repeat) return false;
    const act = findGrade(event) ?? findActOfLetter(event, LABELING_KEYS);
    if (act === null || act === "goon") return false;
    this.panel.act(act);
    return true;
  }

  next() {
    const { current } = this, heldFocus = this.holdsFocus();
    const after = current ? this.rows.indexOf(current) : -1;
    const order = [...this.rows.slice(after + 1), ...this.rows.slice(0, after + 1)];
    if (current && !isDone(current)) {
      current.putOff = true;
      this.putLaterLast();
      this.paint();
    }
    const row = order.find((other) => !isDone(other) && !other.putOff) ?? this.beginSecondRound();
    if (row) this.show(row, heldFocus);
    else if (current) this.endQuery(current, heldFocus);
    else this.leaveQuery();
  }

  /**
   * Stay on the query once nothing is left of it: people who compare its documents look once more.
   * @param {ListRow} row the one on the screen
   * @param {boolean} heldFocus
   */
  endQuery(row, heldFocus) {
    for (const other of this.rows) this.settle(other);
    this.doneAt ??= performance.now();
    this.show(row, heldFocus);
    this.panel.say(this.describeEnd());
  }

  describeEnd() {
    const done = this.rows.filter(isDone).length, total = this.rows.length;
    const figures = { n: this.panel.formatNumber(done), total: this.panel.formatNumber(total) };
    return fill(done < total ? this.words.list_mostdone : this.words.list_alldone, figures);
  }

  /** Return the first of what was put off: it has its turn once the rest is done. Put off again, it waits for another visit to the query. */
  beginSecondRound() {
    const left = this.rows.filter((row) => !isDone(row));
    if (this.isSecondRound || !left.length) return null;
    this.isSecondRound = true;
    for (const row of left) row.putOff = false;
    return left[0];
  }

  putLaterLast() {
    /** @param {ListRow} row */
    const waits = (row) => row.putOff && !isDone(row);
    this.rows = [...this.rows.filter((row) => !waits(row)), ...this.rows.filter(waits)];
    this.rows.forEach((row, i) => {
      const present = this.box.children[i] ?? null;
      if (present !== row.element) this.box.insertBefore(row.element, present);
    });
  }

  /** Go back to the row that was answered last; from the first row of a query to the query before. */
  back() {
    const answered = this.rows.filter((row) => row.answeredAt && row !== this.current).sort((a, b) => b.answeredAt - a.answeredAt);
    if (answered.length) return this.show(answered[0]);
    const rows = this.past.pop();
    if (rows) this.bringBack(rows);
  }

  // ---- going from row to row ----------------------------------------------------------------------------

  get current() { return this.rows.find((row) => row.pair === this.panel.current) ?? null; }

  /** @param {number} step */
  move(step) {
    const { current } = this;
    const row = this.rows[Math.max(0, Math.min(this.rows.length - 1, (current ? this.rows.indexOf(current) : -1) + step))];
    if (row !== current) this.show(row);
  }

  /** @param {MouseEvent} event */
  click(event) {
    const option = findAround(event, "[role=option]");
    const row = this.rows.find((other) => other.element === option);
    if (!row) return;
    if (row !== this.current) this.show(row);
    row.element.focus({ preventScroll: true });
  }

  holdsFocus() { return this.box.contains(findFocused(this.box)) || Boolean(this.panel.at.work.hidden); }

  /**
   * Make a row the pair on the screen. The focus goes along only when it was in the list already.
   * @param {ListRow} row
   * @param {boolean} [heldFocus]
   */
  show(row, heldFocus = this.holdsFocus()) {
    const before = this.current;
    this.panel.show(row.pair);
    if (this.doneAt !== null) this.panel.notice.showEnd(this.describeEnd());
    const stateBefore = before && this.settle(before) ? this.describeState(before) : "";
    for (const other of this.rows) this.paintRow(other);
    this.paintCount();
    if (heldFocus) row.element.focus({ preventScroll: true });
    row.element.scrollIntoView({ block: "nearest" });
    const text = heldFocus ? stateBefore : `${stateBefore} ${this.describePosition(row)} ${nameDocument(row.pair)}. ${this.describeState(row)}`;
    this.panel.announcer.sayAlone(text, row.pair);
    runWhenIdle(() => { for (const other of this.listFollowing(row, 2)) this.panel.view.prepare(other.pair); });
  }

  /**
   * Note the answer of a row that is left.
   * @param {ListRow} row
   * @returns {boolean} whether it was answered while it was on the screen
   */
  settle(row) {
    if (!isDone(row) || row.seenAnswer === row.pair.answer) return false;
    row.seenAnswer = row.pair.answer;
    row.answeredAt = ++this.answerCount;
    row.putOff = false;
    return true;
  }

  /**
   * @param {ListRow} row
   * @param {number} most
   */
  listFollowing(row, most) {
    return this.rows.slice(this.rows.indexOf(row) + 1).filter((other) => !isDone(other)).slice(0, most);
  }

  leaveQuery() {
    for (const row of this.rows) this.settle(row);
    if (this.rows.length) this.past = [...this.past, this.rows].slice(-MOST_REMEMBERED_QUERIES);
    this.clear();
    this.panel.paintEmpty(this.words.loading);
    this.ask();
  }

  /** @param {ListRow[]} rows */
  bringBack(rows) {
    this.rows = rows;
    this.query = rows[0].pair.query.query_id;
    this.isSecondRound = false;
    this.doneAt = rows.every(isDone) ? 0 : null;
    this.box.replaceChildren(...rows.map((row) => row.element));
    this.paint();
    this.show([...rows].sort((a, b) => b.answeredAt - a.answeredAt)[0]);
  }

  /** Ask for the next query. When nothing came, nothing is left (or others hold it). */
  async ask() {
    await this.panel.exchange.request({ whole: true, have: [], want: MOST_OF_A_QUERY });
    if (this.panel.isWholeQuery && !this.panel.isEnded && !this.rows.length) this.panel.finish();
  }

  // ---- drawing --------------------------------------------------------------------------------------------

  /**
   * @param {Pair} pair
   * @returns {ListRow}
   */
  makeRow(pair) {
    const element = make("div", "row");
    element.setAttribute("role", "option");
    const snippet = makeText("span", "", "rowsnippet");
    const mark = make("span", "rowmark");
    mark.setAttribute("aria-hidden", "true");
    const state = make("span", "unseen");
    element.append(mark, makeText("span", nameDocument(pair), "rowtitle"), state, make("span", "rowid", pair.document.title ? pair.document.doc_id : ""), snippet);
    return { pair, element, mark, state, snippet, seenAnswer: pair.answer, answeredAt: pair.answer ? ++this.answerCount : 0, putOff: pair.putOff ?? false, closed: false };
  }

  paint() {
    this.rows.forEach((row, i) => {
      row.element.setAttribute("aria-posinset", String(i + 1));
      row.element.setAttribute("aria-setsize", String(this.rows.length));
      this.paintRow(row);
    });
    this.paintCount();
  }

  /** @param {ListRow} row */
  paintRow(row) {
    const isCurrent = row === this.current, isLater = row.putOff && !isDone(row);
    row.element.setAttribute("aria-selected", String(isCurrent));
    row.element.tabIndex = isCurrent ? 0 : -1;
    row.element.classList.toggle("done", isDone(row));
    row.element.classList.toggle("later", isLater);
    row.mark.textContent = this.signOf(row);
    row.state.className = isLater || row.closed ? "rowstate" : "unseen";
    row.state.textContent = ` ${this.describeState(row)} `;
  }

  paintCount() {
    const done = this.rows.filter(isDone).length;
    this.count.textContent = fill(this.words.list_count, { done: this.panel.formatNumber(done), total: this.panel.formatNumber(this.rows.length) });
  }

  /** @param {ListRow} row */
  signOf({ pair: { answer }, putOff, closed }) {
    if (closed) return "×";
    if (answer) return answer.outcome === "graded" ? String(answer.grade) : "–";
    return putOff ? "…" : "";
  }

  /** @param {ListRow} row */
  describeState(row) {
    const { answer } = row.pair;
    if (row.closed) return this.words.list_closed;
    if (!answer || !isDone(row)) return row.putOff ? this.words.list_putoff : this.words.list_open;
    return answer.outcome === "graded" ? fill(this.words.graded, { grade: answer.grade }) : this.words.said_unrateable;
  }

  /** @param {ListRow} row */
  describePosition(row) {
    return fill(this.words.list_position, { at: this.rows.indexOf(row) + 1, of: this.rows.length });
  }

  /** Make the snippets, a few at a time: a list of two hundred must not delay the first key press. */
  makeSnippets() {
    const waiting = this.rows.filter((row) => row.snippet.textContent === "" && row.pair.document.text);
    /** @param {number} count */
    const makeSome = (count) => { for (const row of waiting.splice(0, count)) row.snippet.replaceChildren(...cutSnippet(row.pair)); };
    const goOn = () => {
      if (!waiting.length) return;
      makeSome(4);
      runWhenIdle(goOn);
    };
    makeSome(8);
    goOn();
  }
}

/**
 * @param {KeyboardEvent} event
 * @param {boolean} isInside whether the focus is in the list
 */
function findStep(event, isInside) {
  if (event.shiftKey) return null;
  const act = findActOfLetter(event, LABELING_KEYS);
  if (act === "down") return 1;
  if (act === "up") return -1;
  /** @type {Record<string, number>} */
  const steps = { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity };
  return isInside ? steps[event.key] ?? null : null;
}

/** @param {ListRow} row */
function isDone({ pair, closed }) { return closed || (Boolean(pair.answer) && !pair.outdated); }

/** @param {Pair} pair */
function nameDocument(pair) { return pair.document.title || pair.document.doc_id; }

export function remembersListMode() {
  try { return localStorage.getItem(MODE_KEY) === "yes"; } catch { return false; }
}

/** @param {boolean} isOn */
function rememberListMode(isOn) {
  try { localStorage.setItem(MODE_KEY, isOn ? "yes" : "no"); } catch { /* the mode holds for this visit */ }
}
