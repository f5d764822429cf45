// The decision panel. One disagreement is on the screen, the next ones are here already; a decision is bound to the pair and
// to the state of it that were seen when it was pressed, kept in this browser, and sent in the background.

import { ActiveTime } from "../../kit/panel/active_time.js";
import { Announcer } from "../../kit/panel/announcer.js";
import { VisitedPairs } from "../../kit/panel/browser_storage.js";
import { hasOpenDialog } from "../../kit/panel/dialogs.js";
import { DocumentView } from "../../kit/panel/document_view.js";
import { findActButton, findAround, findFocused, findPart, isFocusLost, make, nameButton, runWhenIdle, setLanguage } from "../../kit/panel/elements.js";
import { GuidelineView } from "../../kit/panel/guideline_view.js";
import { newId } from "../../kit/panel/ids.js";
import { findAct } from "../../kit/panel/keys.js";
import { QueryText } from "../../kit/panel/query_text.js";
import { Remark } from "../../kit/panel/remark.js";
import { postJson } from "../../kit/panel/requests.js";
import { fill } from "../../kit/panel/sentences.js";
import { DecisionForm } from "./decision_form.js";
import { BUTTONS, DECISION_KEYS } from "./decision_keys.js";
import { DecisionDrafts, DecisionOutbox } from "./decision_outbox.js";
import { DisagreementDialogs } from "./dialogs.js";
import { DisagreementView } from "./disagreement_view.js";
import { isOpen, isWithdrawable, summarize } from "./disagreements.js";
import { DecisionExchange } from "./exchange.js";
import { DecisionSaveStatus } from "./save_status.js";

const MOST_KEPT = 30;  // disagreements that one can go back to at once
const LOOK_AGAIN_MS = 30000;

/** @typedef {import("../../kit/panel/keys.js").Act} Act */
/** @typedef {import("./messages.js").DecisionEntry} DecisionEntry */
/** @typedef {import("./messages.js").DecisionFields} DecisionFields */
/** @typedef {import("./messages.js").DecisionPanelSettings} DecisionPanelSettings */
/** @typedef {import("./messages.js").Disagreement} Disagreement */
/** @typedef {import("./messages.js").DisagreementBatch} DisagreementBatch */

/** @type {WeakMap<HTMLElement, DecisionPanel>} */
const panels = new WeakMap();

/** @param {{ parentElement: ParentNode, data: { message: string } }} component */
export default function (component) {
  const root = component.parentElement.querySelector(".panel");
  if (!(root instanceof HTMLElement)) return undefined;
  /** @type {DecisionPanelSettings} */
  const settings = JSON.parse(component.data.message);
  const present = panels.get(root);
  if (present?.isFor(settings)) return () => present.stop();
  present?.stop();
  const panel = new DecisionPanel(root, settings);
  panels.set(root, panel);
  panel.start();
  return () => panel.stop();
}

export class DecisionPanel {
  /**
   * @param {HTMLElement} root
   * @param {DecisionPanelSettings} settings
   */
  constructor(root, settings) {
    const { username, dataset, words, language } = settings;
    this.root = root;
    this.settings = settings;
    this.words = words;
    this.at = findParts(root);
    this.listening = new AbortController();
    /** @type {Disagreement[]} the next ones */
    this.queue = [];
    /** @type {Disagreement[]} those whose decision was refused */
    this.returned = [];
    /** @type {Disagreement | null} the one on the screen */
    this.current = null;
    /** @type {number | null} how many are left in the queue */
    this.left = null;
    this.doneCount = 0;
    this.isEnded = false;
    /** @type {Map<string, Disagreement>} those that were decided here, by pair */
    this.kept = new Map();
    /** @type {Map<string, number>} when a pair was decided or put off: it is not to come again at once */
    this.passed = new Map();

    this.outbox = new DecisionOutbox(username);
    this.drafts = new DecisionDrafts(username, dataset);
    this.visited = new VisitedPairs(`annotator/behind/${username}/${dataset}`);
    this.time = new ActiveTime(settings.idle_seconds);
    this.announcer = new Announcer(this.at.live);
    this.queryText = new QueryText(this.at);
    this.view = new DocumentView(this.at.viewer, { dataset, language, words });
    this.remark = new Remark({ host: this.at.remark, closeWord: words.close, focusElsewhere: () => this.view.focus() });
    this.saveStatus = new DecisionSaveStatus({
      root, saved: this.at.saved, alert: this.at.alert, words, outbox: this.outbox,
      findState: () => ({ hasBegun: this.left !== null, returnedPairs: this.returned.map(({ pair }) => pair) }),
    });
    this.dialogs = new DisagreementDialogs({
      host: this, dataset, username, formatMoment: (moment) => this.disagreementView.showMoment(moment), remark: (text) => this.remark.show(text),
      goOn: (pair, isPassed) => { if (this.current?.pair === pair) this.goOn(isPassed); }, refresh: (pair) => this.refresh(pair),
    });
    this.guideline = new GuidelineView({
      username, dataset, guideline: settings.guideline, keys: settings.keys, words, grades: this.at.grades,
      openSheet: (title, parts) => this.dialogs.openSheet(title, parts), closeRemark: () => this.remark.close(),
      remark: (text, ...buttons) => this.remark.show(text, ...buttons),
    });
    this.disagreementView = new DisagreementView({
      host: this.at.told, words, language, username, drafts: this.drafts, nameGrade: (grade) => this.guideline.nameOf(grade),
      answer: (question, text, button) => this.answerQuestion(question, text, button), focusDocument: () => this.view.focus(),
    });
    this.form = new DecisionForm({
      root, parts: this.at, words, drafts: this.drafts, decide: (disagreement, fields) => this.decide(disagreement, fields), goOn: () => this.goOn(),
      focusDocument: () => this.view.focus(), say: (text) => this.say(text),
    });
    this.exchange = new DecisionExchange({
      panel: settings, outbox: this.outbox,
      findState: () => ({ have: this.listHeld(), queued: this.queue.length, hasCurrent: this.current !== null }),
      take: (batch, began) => this.take(batch, began), takeCount: (left) => { this.left = left; },
      noticeStored: (entry, batch, began) => this.noticeStored(entry, batch, began), refuse: (entry, why, now) => this.refuse(entry, why, now),
      finish: () => this.finish(), noticeTrouble: (trouble) => this.noticeTrouble(trouble), remark: (text) => this.remark.show(text),
    });
  }

  /**
   * Return whether this panel is the one that the page asks for now.
   * @param {DecisionPanelSettings} settings
   */
  isFor(settings) {
    const { username, dataset, language, filter } = this.settings;
    return !this.isEnded && settings.username === username && settings.dataset === dataset && settings.language === language
      && JSON.stringify(settings.filter) === JSON.stringify(filter);
  }

  start() {
    const { signal } = this.listening;
    document.addEventListener("keydown", (event) => this.key(event), { signal });
    window.addEventListener("resize", () => this.fit(), { signal });
    this.root.addEventListener("click", (event) => this.click(event), { signal });
    this.time.listen(signal);
    this.exchange.listen(signal);
    this.layOut();
    this.fit();
    this.paintEmpty(this.words.loading);
    this.ticking = setInterval(() => this.saveStatus.paint(), 500);
    this.exchange.fill({ pair: this.settings.pair });
    if (this.outbox.list().length) this.exchange.send();
    for (const pair of this.drafts.listRefused()) this.bringBack(pair, null);
  }

  stop() {
    if (this.isEnded) return;
    this.isEnded = true;
    this.listening.abort();
    clearInterval(this.ticking);
    this.exchange.close();
  }

  // ---- pressing -----------------------------------------------------------------------------------------

  /** @param {KeyboardEvent} event */
  key(event) {
    if (hasOpenDialog(this.root)) return;
    const act = findAct(event, DECISION_KEYS);
    if (act === null || act === "goon") return;
    event.preventDefault();
    this.act(act, true);
  }

  /** @param {MouseEvent} event */
  click(event) {
    const button = findAround(event, "[data-act]"), act = button?.dataset.act;
    if (!button || !act || button.matches(":disabled")) return;
    this.act(/^[0-3]$/.test(act) ? Number(act) : act, event.detail === 0);  // Enter on the button presses it without a click
  }

  /**
   * @param {Act} act
   * @param {boolean} byKey
   */
  act(act, byKey) {
    switch (act) {
      case "help": return this.guideline.openSheet();
      case "back": return this.back();
      case "lookatit": return this.lookAtReturned();
      case "close_remark": return this.remark.close();
    }
    if (this.current) this.actOnDisagreement(act, this.current, byKey);
  }

  /**
   * @param {Act} act
   * @param {Disagreement} disagreement
   * @param {boolean} byKey
   */
  actOnDisagreement(act, disagreement, byKey) {
    if (typeof act === "number" || act === "unrateable") return this.form.choose(act, byKey);
    if (act.startsWith("cause_")) return this.form.toggleCause(act.slice("cause_".length));
    switch (act) {
      case "find": return this.view.openFind();
      case "down": return this.view.scroll(1);
      case "up": return this.view.scroll(-1);
      case "previous": return this.view.goToMatch(-1);
      case "following": return this.view.goToMatch(1);
      case "assign": return this.dialogs.assign(disagreement);
      case "names": return this.dialogs.showNames(disagreement);
      case "trail": return this.dialogs.showHistory(disagreement);
      case "discuss": return this.dialogs.discuss(disagreement);
      case "note": return this.focusRationale();
      case "guideline": return this.form.toggleGuideline();
      case "later": return this.putOff(disagreement);
      case "confirm": case "decide": return this.form.decide();
      case "withdrawn": return isWithdrawable(disagreement) && this.form.choose("withdrawn", byKey);
    }
  }

  focusDocument() { this.view.focus(); }

  focusRationale() {
    this.at.decision.toggleAttribute("data-words", true);
    this.at.rationale.focus();
  }

  /**
   * Keep a decision in this browser and show the next disagreement; it is sent behind that.
   * @param {Disagreement} disagreement
   * @param {DecisionFields} fields
   */
  decide(disagreement, fields) {
    const { pair, seen } = disagreement, { dataset, username, filter } = this.settings;
    /** @type {DecisionEntry} */
    const entry = { id: newId(), dataset, lead: username, tab: this.exchange.tab, pair, seen, ...fields, seconds: this.time.read(), filter, shown: summarize(disagreement) };
    try { this.outbox.put(entry); } catch {
      this.saveStatus.isStorageFull = true;
      return this.saveStatus.paint();
    }
    this.saveStatus.isStorageFull = false;
    this.remark.close();
    this.drafts.write(pair, null);
    const { decided } = fields;
    const graded = typeof decided === "number" ? { outcome: "graded", grade: decided } : { outcome: decided ?? "", grade: null };
    const decision = { ...graded, ...fields, revision: entry.shown.revision + 1, decided_at: null, by: username, yours: true };
    this.remember({ ...disagreement, stale: true, decisions: [...disagreement.decisions, decision] });
    this.passed.set(pair, performance.now());
    if (isOpen(disagreement)) {
      this.left = Math.max(0, (this.left ?? 1) - 1);
      this.doneCount++;
    }
    this.say(fill(this.words.saiddecided, { grade: this.disagreementView.nameOf(graded) }));
    this.next();
    this.exchange.send();
  }

  /** @param {Disagreement} disagreement */
  remember(disagreement) {
    this.visited.push(disagreement.pair);
    this.kept.set(disagreement.pair, disagreement);
    const [oldest] = this.kept.keys();
    if (this.kept.size > MOST_KEPT) this.kept.delete(oldest);
  }

  /**
   * Go on without deciding: the disagreement stays as it is.
   * @param {boolean} [isPassed] it is not to come again at once
   */
  goOn(isPassed = true) {
    if (isPassed && this.current) this.passed.set(this.current.pair, performance.now());
    this.next();
    this.exchange.fill();
  }

  /** @param {Disagreement} disagreement */
  async putOff(disagreement) {
    const { pair, barred } = disagreement;
    this.passed.set(pair, performance.now());
    if (!isOpen(disagreement)) this.drafts.acceptRefusal(pair);
    this.say(this.words.saidlater);
    this.next();
    if (isOpen(disagreement) && !barred) await postJson("/api/cases/later", { dataset: this.settings.dataset, pair });
    this.passed.set(pair, performance.now());
    this.exchange.fill();
  }

  next() {
    if (this.current) this.view.forget(this.current.pair);
    this.current = null;
    const disagreement = this.returned.shift() ?? this.queue.shift();
    if (disagreement) this.show(disagreement);
    else this.paintEmpty(this.words.loading);
  }

  // ---- back, and what came back -----------------------------------------------------------------------------

  back() {
    const pair = this.visited.pop();
    if (!pair) return this.say(this.words.noback);
    if (this.current) this.queue.unshift(this.current);
    const kept = this.kept.get(pair);
    if (kept) this.show(kept);
    else {
      this.current = null;
      this.paintEmpty(this.words.loading);
    }
    if (!this.outbox.has(pair)) this.refresh(pair);
  }

  /**
   * Show the pair as it is now, with what is chosen and typed left alone.
   * @param {string} pair
   */
  async refresh(pair) {
    const disagreement = await this.exchange.look(pair);
    const shown = this.current;
    if (!disagreement || this.isEnded || (shown && shown.pair !== pair)) return;
    this.kept.set(pair, disagreement);
    if (shown?.document.sha256 !== disagreement.document.sha256) {
      this.view.forget(pair);
      return this.show(disagreement);
    }
    this.current = disagreement;
    this.disagreementView.show(disagreement);
    this.form.show(disagreement, true);
    if (isFocusLost(this.root)) this.view.focus();
    this.paintCount();
  }

  /**
   * Take a refused decision back: what was chosen and typed is kept, and the pair comes again as it is now.
   * @param {DecisionEntry} entry
   * @param {string} why
   * @param {Disagreement | null} now
   */
  refuse(entry, why, now) {
    const { decided, rationale, cause, in_guideline, shown, pair, dataset } = entry;
    const isHere = dataset === this.settings.dataset;
    const drafts = isHere ? this.drafts : new DecisionDrafts(this.settings.username, dataset);
    drafts.write(pair, { decided, rationale, cause, in_guideline, refused: why, before: shown });
    this.outbox.remove(entry);
    this.doneCount = Math.max(0, this.doneCount - 1);
    if (isHere) this.bringBack(pair, now);
  }

  /**
   * @param {string} pair
   * @param {Disagreement | null} now
   */
  async bringBack(pair, now) {
    const disagreement = now ?? (await this.exchange.look(pair));
    if (this.isEnded) return;
    if (!disagreement) return this.remark.show(fill(this.words.notback, { what: this.drafts.read(pair)?.rationale ?? "" }));
    this.kept.delete(pair);
    this.queue = this.queue.filter((other) => other.pair !== pair);
    if (this.current?.pair === pair) return this.show(disagreement);
    this.returned = [...this.returned.filter((other) => other.pair !== pair), disagreement];
    if (!this.current) this.next();
    this.saveStatus.paint();
  }

  lookAtReturned() {
    if (!this.returned.length) return;
    if (this.current) this.queue.unshift(this.current);
    this.current = null;
    this.next();
  }

  // ---- what the server says -------------------------------------------------------------------------------

  /** Return the pairs that are here. */
  listHeld() { return [...(this.current ? [this.current] : []), ...this.queue, ...this.returned].map(({ pair }) => pair); }

  /** @param {string | null} trouble */
  noticeTrouble(trouble) {
    this.saveStatus.trouble = trouble;
    this.saveStatus.paint();
  }

  /**
   * Take notice that a decision is in the database.
   * @param {DecisionEntry} entry
   * @param {DisagreementBatch | null} batch
   * @param {number} began when it was sent
   */
  noticeStored(entry, batch, began) {
    if (entry.dataset !== this.settings.dataset) return;
    if (batch) this.take(batch, began);
    if (batch?.proposed) this.remark.show(this.words.proposed);
    if (this.current?.pair === entry.pair && this.current.stale) this.refresh(entry.pair);
    if (!this.current && !this.queue.length) this.exchange.fill();
  }

  /**
   * @param {DisagreementBatch} batch
   * @param {number} began when it was asked for
   */
  take({ cases, left }, began) {
    const waiting = this.outbox.list().filter(({ dataset }) => dataset === this.settings.dataset).map(({ pair }) => pair);
    const present = new Set([...this.listHeld(), ...waiting]);
    for (const disagreement of cases) {
      const { pair } = disagreement;
      if (present.has(pair) || (this.passed.get(pair) ?? -1) > began) continue;
      present.add(pair);
      this.guideline.noticeVersion(disagreement.guideline_version);
      if (pair === this.settings.pair && !this.current) this.queue.unshift(disagreement);
      else this.queue.push(disagreement);
    }
    this.left = Math.max(0, left - waiting.length);
    if (!this.current && (this.queue.length || this.returned.length)) this.next();
    else this.prepare();
    this.paintCount();
    this.saveStatus.paint();
  }

  finish() {
    this.paintEmpty(this.words.nothing, true);
    this.exchange.later(LOOK_AGAIN_MS, () => { if (!this.current) this.exchange.fill(); });
  }

  /**
   * @param {number} question
   * @param {HTMLTextAreaElement} text
   * @param {HTMLButtonElement} button
   */
  async answerQuestion(question, text, button) {
    if (!text.value.trim() || button.disabled) return text.focus();
    button.disabled = true;
    const { status, answer } = await postJson("/api/cases/answer", { dataset: this.settings.dataset, question, answer: text.value });
    button.disabled = false;
    if (status !== 200) return this.form.say(answer.error ?? this.words.failed, "error");
    this.remark.show(this.words.answersent);
    if (this.current) this.refresh(this.current.pair);
  }

  // ---- drawing --------------------------------------------------------------------------------------------

  /** @param {Disagreement} disagreement */
  show(disagreement) {
    const { at } = this;
    this.current = disagreement;
    this.guideline.catchUp();
    this.root.dataset.pairId = disagreement.pair;
    const wasEmpty = at.work.hidden;
    at.empty.hidden = true;
    at.work.hidden = false;
    at.decision.removeAttribute("data-words");
    this.queryText.show(disagreement.query, disagreement.query.language ?? this.settings.document_language);
    setLanguage(this.view.region, this.settings.document_language);
    this.disagreementView.show(disagreement);
    this.view.show(disagreement);
    this.form.show(disagreement);
    if (wasEmpty || isFocusLost(this.root) || at.decision.contains(findFocused(this.root))) this.view.focus();
    this.time.begin();
    this.paintCount();
    this.saveStatus.paint();
    nameAddress(disagreement.pair);
    this.announce(disagreement);
    runWhenIdle(() => this.prepare());
  }

  prepare() { for (const ahead of this.queue.slice(0, 2)) this.view.prepare(ahead); }

  /** @param {Disagreement} disagreement */
  announce({ waiting, judgments, query, document }) {
    const reasons = waiting.map((reason) => this.words[`why_${reason}`]).join(", ");
    const grades = judgments.map((judgment) => `${judgment.letter}: ${this.disagreementView.nameOf(judgment)}`).join(", ");
    this.say(`${this.words.query}: ${query.text}. ${this.words.document}: ${document.title || document.doc_id}. ${reasons}. ${grades}`);
  }

  layOut() {
    const { at, words } = this;
    at.heading.textContent = fill(words.heading, { dataset: this.settings.title });
    at.querylabel.textContent = words.query;
    at.narrativelabel.textContent = words.narrative;
    at.queuelink.textContent = words.queue;
    at.queuelink.href = this.addressOfQueue(this.settings.filter);
    at.grades.setAttribute("aria-label", words.grade);
    at.decision.setAttribute("aria-label", words.decision);
    at.reading.setAttribute("aria-label", words.reading);
    at.told.setAttribute("aria-label", words.told);
    at.doings.setAttribute("aria-label", words.doings);
    for (const [act, key] of BUTTONS) nameButton(findActButton(this.root, act), words[`do_${act}`], key);
  }

  /** @param {Record<string, string>} filter */
  addressOfQueue(filter) { return `/disagreements?${new URLSearchParams({ dataset: this.settings.dataset, ...filter })}`; }

  fit() { this.root.style.setProperty("--top", `${Math.max(0, this.root.getBoundingClientRect().top)}px`); }

  /**
   * Show a text where a disagreement would be.
   * @param {string} text
   * @param {boolean} [hasLinks] to the whole queue and the overview
   */
  paintEmpty(text, hasLinks = false) {
    const { at, words } = this, focused = findFocused(this.root);
    const heldFocus = at.work.contains(focused) || focused?.matches(".doings button:not([data-act=help])");
    this.root.dataset.pairId = "";
    at.work.hidden = true;
    at.empty.hidden = false;
    at.emptytext.textContent = text;
    const overview = `/overview?${new URLSearchParams({ dataset: this.settings.dataset })}`;
    at.emptylinks.replaceChildren(...(hasLinks ? [makeLink(this.addressOfQueue({}), words.wholequeue), " ", makeLink(overview, words.overview)] : []));
    if (heldFocus) at.empty.focus();
    if (hasLinks) this.say(text);
    this.paintCount();
    this.saveStatus.paint();
  }

  paintCount() {
    const { left, doneCount, words } = this;
    /** @param {number} number */
    const format = (number) => number.toLocaleString(this.settings.language);
    this.at.count.textContent = left === null ? "" : fill(doneCount ? words.position : words.waiting, { n: format(left), done: format(doneCount) });
  }

  /** @param {string} text */
  say(text) { this.announcer.say(text, this.current); }
}

/**
 * Return the parts of the panel's HTML by the names that it gives them.
 * @param {HTMLElement} root
 */
function findParts(root) {
  /** @param {string} name */
  const find = (name) => findPart(root, name, HTMLElement);
  return {
    heading: find("heading"), queuelink: findPart(root, "queuelink", HTMLAnchorElement), count: find("count"), saved: find("saved"), doings: find("doings"),
    alert: find("alert"), work: find("work"), reading: find("reading"), querylabel: find("querylabel"), query: find("query"),
    narrativebox: findPart(root, "narrativebox", HTMLDetailsElement), narrativelabel: find("narrativelabel"), narrative: find("narrative"),
    viewer: find("viewer"), told: find("told"), decision: find("decision"), barred: find("barred"), asked: find("asked"), grades: find("grades"),
    causes: find("causes"), rationalelabel: find("rationalelabel"), rationale: findPart(root, "rationale", HTMLTextAreaElement), hint: find("hint"),
    empty: find("empty"), emptytext: find("emptytext"), emptylinks: find("emptylinks"), remark: find("remark"), live: find("live"),
  };
}

/**
 * @param {string} href
 * @param {string} text
 */
function makeLink(href, text) {
  const link = make("a", "", text);
  link.href = href;
  link.target = "_self";
  return link;
}

/**
 * Name the pair on the screen in the address, so that it can be sent to somebody, and a reload shows it again.
 * @param {string} pair
 */
function nameAddress(pair) {
  const address = new URL(location.href);
  if (address.searchParams.get("pair") === pair) return;
  address.searchParams.set("pair", pair);
  history.replaceState(history.state, "", address);
}
