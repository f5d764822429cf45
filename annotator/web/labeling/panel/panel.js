// The labeling panel. Holds pairs ahead, binds every press to the pair on the screen and shows the next one at once.
// Its parts: the exchange with the server and the outbox, the view of the document, the guideline beside it, the notice
// above it, what has been saved, the list of a whole query. Everything shown is set as text: a document cannot run anything.

import { ActiveTime } from "../../kit/panel/active_time.js";
import { runAfterPaint } from "../../kit/panel/after_paint.js";
import { Announcer } from "../../kit/panel/announcer.js";
import { describeChanges } from "../../kit/panel/changes.js";
import { readStored, VisitedPairs, writeStored } from "../../kit/panel/browser_storage.js";
import { hasOpenDialog } from "../../kit/panel/dialogs.js";
import { DocumentView } from "../../kit/panel/document_view.js";
import { findActButton, findAround, findElement, findFocused, findPart, isFocusLost, make, makeHiddenKey, nameButton, runWhenIdle, writeText } from "../../kit/panel/elements.js";
import { GuidelineView } from "../../kit/panel/guideline_view.js";
import { newId } from "../../kit/panel/ids.js";
import { findAct } from "../../kit/panel/keys.js";
import { QueryText } from "../../kit/panel/query_text.js";
import { Remark } from "../../kit/panel/remark.js";
import { asRequestError, askServer } from "../../kit/panel/requests.js";
import { fill } from "../../kit/panel/sentences.js";
import { Exchange } from "./exchange.js";
import { History } from "./history.js";
import { LABELING_KEYS } from "./labeling_keys.js";
import { OtherTabs } from "./other_tabs.js";
import { NoteDrafts, Outbox, handInOtherDatasets } from "./outbox.js";
import { PairNotice } from "./pair_notice.js";
import { ProposalDialog } from "./proposal_dialog.js";
import { MOST_OF_A_QUERY, QueryList, remembersListMode } from "./query_list.js";
import { QuestionDialog } from "./question_dialog.js";
import { ReasonDialog } from "./reason_dialog.js";
import { SaveStatus } from "./save_status.js";
import { SideSheet } from "./side_sheet.js";

const PAIRS_AHEAD = 20;
const PAIRS_AGAIN = 50;  // after a reload: the pair that was on the screen is among so many
const ASK_BELOW = 14;
const MOST_BEHIND = 50;
const REMARK_ANSWERS = 3;  // so many further answers close a remark
const LOOK_AGAIN_MS = 30000;
const ASK_TABS_MS = 2000;
const OTHER_DATASETS_MS = 5000;
const FIRST_NEWS_MS = 5000;
const NEWS_MS = 300000;

/** The panel's buttons, each with its key. */
const BUTTONS = [["back", "z"], ["later", "l"], ["unrateable", "u"], ["propose", "p"], ["question", "q"], ["list", "w"], ["help", "?"], ["again", ""]];

/** @typedef {import("../../kit/panel/keys.js").Act} Act */
/** @typedef {import("./messages.js").ExchangeAnswer} ExchangeAnswer */
/** @typedef {import("./messages.js").ExchangeRequest} ExchangeRequest */
/** @typedef {import("./messages.js").JudgmentEvent} JudgmentEvent */
/** @typedef {import("./messages.js").NewAnswer} NewAnswer */
/** @typedef {import("./messages.js").Pair} Pair */
/** @typedef {import("./messages.js").PanelSettings} PanelSettings */
/** @typedef {import("./messages.js").Progress} Progress */
/** @typedef {import("./messages.js").Refusal} Refusal */

/** @type {WeakMap<HTMLElement, LabelingPanel>} */
const panels = new WeakMap();

/** @param {{ parentElement: ParentNode, data: { message: string } }} component */
export default function (component) {
  const root = component.parentElement.querySelector(".panel");
  if (!(root instanceof HTMLElement)) return undefined;
  /** @type {PanelSettings} */
  const settings = JSON.parse(component.data.message);
  const present = panels.get(root);
  if (present?.isFor(settings)) return () => present.stop();
  present?.stop();
  const panel = new LabelingPanel(root, settings);
  panels.set(root, panel);
  panel.start();
  return () => panel.stop();
}

export class LabelingPanel {
  /**
   * @param {HTMLElement} root
   * @param {PanelSettings} settings
   */
  constructor(root, settings) {
    const { username, dataset, language, words } = settings;
    this.root = root;
    this.settings = settings;
    this.words = words;
    this.at = findParts(root);
    this.listening = new AbortController();
    /** @type {Pair[]} the next ones */
    this.queue = [];
    /** @type {Pair | null} the one on the screen */
    this.current = null;
    /** @type {Pair[]} the ones answered on this page */
    this.behind = [];
    /** @type {Progress | null} */
    this.progress = null;
    /** @type {ExchangeAnswer["idle"]} */
    this.idle = null;
    this.isEnded = false;
    this.isWholeQuery = false;
    this.isWelcomed = false;

    this.outbox = new Outbox(username, dataset);
    this.noteDrafts = new NoteDrafts(username, dataset);
    this.visited = new VisitedPairs(`annotator/trail/${username}/${dataset}`);
    this.time = new ActiveTime(settings.idle_seconds);
    this.takenAt = Date.now();  // when the server last prolonged the leases of what is here
    this.announcer = new Announcer(this.at.live);
    this.queryText = new QueryText(this.at);
    this.view = new DocumentView(this.at.viewer, { dataset, language, words });
    this.remark = new Remark({ host: this.at.remark, closeWord: words.close, answers: REMARK_ANSWERS, focusElsewhere: () => this.view.focus() });
    this.saveStatus = new SaveStatus({
      root, saved: this.at.saved, alert: this.at.alert, words, outbox: this.outbox,
      findState: () => ({ hasBegun: this.progress !== null, pair: this.current?.pair ?? null }),
    });
    this.sheet = new SideSheet({ dialog: this.at.sheet, title: this.at.sheettitle, body: this.at.sheetbody });
    this.reasons = new ReasonDialog({ dialog: this.at.reasons, title: this.at.reasontitle, list: this.at.reasonlist }, words);
    this.guideline = new GuidelineView({
      username, dataset, guideline: settings.guideline, keys: settings.keys, words, grades: this.at.grades,
      openSheet: (title, parts) => this.sheet.open(title, parts), closeRemark: () => this.remark.close(),
      remark: (text, ...buttons) => this.remark.show(text, ...buttons),
    });
    this.notice = new PairNotice({
      host: this.at.strip, grades: this.at.grades, words,
      nameGrade: (grade) => this.guideline.nameOf(grade), say: (text) => this.say(text),
    });
    this.tabs = new OtherTabs({
      channel: this.outbox.prefix, findShownPair: () => this.current?.pair ?? "", dropPair: (key) => this.drop((pair) => pair.pair === key),
    });
    this.exchange = new Exchange({
      username, dataset, outbox: this.outbox, makeRequest: () => this.makeRequest(), take: (answer, request) => this.take(answer, request),
      noticeTrouble: (trouble) => this.noticeTrouble(trouble), noticeStart: () => this.saveStatus.paint(),
    });
    this.history = new History({
      host: this.at.history, key: `annotator/history/${username}/${dataset}`, words, open: (pair) => this.goBackTo(pair), leave: () => this.view.focus(),
    });
    this.list = new QueryList(this.at.list, this);
  }

  /**
   * Return whether this panel is the one that the page asks for now.
   * @param {PanelSettings} settings
   */
  isFor(settings) {
    const { username, dataset, language, pair } = this.settings;
    return !this.isEnded && settings.username === username && settings.dataset === dataset && settings.language === language && settings.pair === pair;
  }

  start() {
    this.listen(this.listening.signal);
    this.tabs.ask();
    this.layOut();
    this.fit();
    this.saveStatus.isStorageFull = !this.outbox.canStore();
    this.paintEmpty(this.words.loading);
    this.guideline.tellOfChangesSinceLastVisit();
    if (this.settings.pair) this.open(this.settings.pair).then(() => this.exchange.flush());
    else this.exchange.flush();
    this.ticking = setInterval(() => this.saveStatus.paint(), 500);
    this.newsTicking = setInterval(() => this.askNews(), NEWS_MS);
    setTimeout(() => this.askNews(), FIRST_NEWS_MS);
    this.handInOtherDatasets(this.settings.dataset);
    if (remembersListMode() && !this.settings.pair) queueMicrotask(() => { if (!this.isWholeQuery && !this.isEnded) this.toggleList(); });
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    const { note, reasons, sheet } = this.at;
    document.addEventListener("keydown", (event) => this.key(event), { signal });
    window.addEventListener("pagehide", () => {
      this.tabs.tell("");
      keepShownPair(this.current?.pair ?? "");
    }, { signal });
    window.addEventListener("resize", () => this.fit(), { signal });
    window.addEventListener("offline", () => this.saveStatus.paint(), { signal });
    window.addEventListener("storage", (event) => this.noticeStorage(event), { signal });
    this.root.addEventListener("click", (event) => this.click(event), { signal });
    note.addEventListener("input", () => { if (this.current) this.noteDrafts.write(this.current.pair, note.value); }, { signal });
    note.addEventListener("keydown", (event) => { if (event.key === "Escape" && !event.isComposing) this.view.focus(); }, { signal });
    // The browser puts the focus back to where it was. That may be gone by now, and the focus must never fall back to the
    // page's beginning; but this is heard of late, and whoever has gone on to a field meanwhile is left there.
    for (const dialog of [sheet, reasons]) dialog.addEventListener("close", () => { if (isFocusLost(this.root)) this.view.focus(); }, { signal });
    for (const part of [this.time, this.sheet, this.reasons, this.exchange]) part.listen(signal);
  }

  stop() {
    if (this.isEnded) return;
    this.isEnded = true;
    this.listening.abort();
    clearInterval(this.ticking);
    clearInterval(this.newsTicking);
    this.exchange.close();
    this.tabs.tell("");
    keepShownPair(this.current?.pair ?? "");
    this.tabs.close();
    this.handInOtherDatasets(null);
  }

  /**
   * Submit what waits for datasets whose panel is not open, also this one's once it is closed.
   * @param {string | null} openDataset
   */
  async handInOtherDatasets(openDataset) {
    const isDone = await handInOtherDatasets(this.settings.username, openDataset);
    if (!isDone && (openDataset === null) === this.isEnded) setTimeout(() => this.handInOtherDatasets(openDataset), OTHER_DATASETS_MS);
  }

  // ---- pressing -----------------------------------------------------------------------------------------

  /** @param {KeyboardEvent} event */
  key(event) {
    if (hasOpenDialog(this.root)) return;
    if (this.isWholeQuery && !event.defaultPrevented && this.list.key(event)) return event.preventDefault();
    const act = findAct(event, LABELING_KEYS);
    if (act === null || (act === "goon" && !this.notice.isExplained)) return;
    event.preventDefault();
    this.act(act === "confirm" && this.notice.isExplained ? "goon" : act);
  }

  /** @param {MouseEvent} event */
  click(event) {
    const button = findAround(event, "[data-act]"), act = button?.dataset.act;
    if (!button || !act || button.matches(":disabled")) return;
    const isGrade = /^[0-3]$/.test(act);
    this.act(isGrade ? Number(act) : act);
    if (isGrade && event.detail && !this.notice.isExplained) this.view.focus();  // or Space, meant to scroll, would press it again
  }

  /** @param {Act} act */
  act(act) {
    const { current } = this;
    if (typeof act === "number") return current && this.judge(current, { outcome: "graded", grade: act });
    if (current) this.actOnPair(act, current);
    switch (act) {
      case "again": return this.exchange.flush();
      case "forget": return this.forgetRefused();
      case "close_remark": return this.remark.close();
      case "help": return this.guideline.openSheet();
      case "list": return this.toggleList();
      case "goon": return this.goOn();
      case "back": return this.back();
    }
  }

  /**
   * @param {string} act
   * @param {Pair} pair
   */
  actOnPair(act, pair) {
    switch (act) {
      case "history": return this.history.focus();
      case "note": return this.at.note.focus();
      case "find": return this.view.openFind();
      case "down": return this.view.scroll(1);
      case "up": return this.view.scroll(-1);
      case "previous": return this.view.goToMatch(-1);
      case "following": return this.view.goToMatch(1);
      case "confirm": return this.confirm(pair);
      case "changes": return this.showChanges(pair);
      case "propose": return this.propose(pair);
      case "question": return this.askQuestion(pair);
      case "unrateable": return this.cannotRate(pair);
      case "later": return this.judge(pair, { outcome: "later" });
    }
  }

  /** @param {Pair} pair */
  async cannotRate(pair) {
    if (this.notice.isHolding || hasOpenDialog(this.root)) return;
    const chosen = await this.reasons.ask(this.at.note.value);
    if (chosen && this.current === pair) this.judge(pair, { outcome: "unrateable", ...chosen });
  }

  /**
   * Give an answer that is asked for again once more; leave one that was only looked at as it is.
   * @param {Pair} pair
   */
  confirm(pair) {
    const { answer, outdated } = pair;
    if (this.isWholeQuery && this.list.doneAt !== null) return this.list.leaveQuery();
    if (!answer || this.notice.isHolding) return;
    if (outdated) return this.confirmOutdated(pair, answer);
    if (!this.at.note.value.trim() || this.at.note.value === answer.note) this.noteDrafts.write(pair.pair, "");
    forgetAddress();
    this.behind.push(pair);
    this.next();
    this.flushAfterPaint();
  }

  /**
   * Give the earlier answer again. One of an older version may lack the words of its reason: then they are asked for.
   * @param {Pair} pair
   * @param {import("./messages.js").Answer} answer
   */
  async confirmOutdated(pair, { outcome, grade, reason }) {
    const note = this.at.note.value;
    if (reason !== "other" || note.trim()) return this.judge(pair, { outcome, grade, reason });
    const chosen = await this.reasons.ask(note, { needsWords: true });
    if (chosen && this.current === pair) this.judge(pair, { outcome, ...chosen });
  }

  /**
   * Judge the pair on the screen and go on.
   * @param {Pair} pair
   * @param {NewAnswer} answer
   */
  judge(pair, answer) {
    if (this.notice.isHolding) return this.say(this.words.training_waits);
    if (this.isWholeQuery && this.list.isHolding()) return this.say(this.list.describeEnd());
    const event = this.keepAnswer(pair, { note: this.at.note.value, ...answer });
    if (!event) return;
    forgetAddress();
    if (pair.training && event.outcome !== "later") this.notice.wait(event);
    else {
      if (event.outcome !== "later") this.remember(pair);
      this.next();
    }
    this.flushAfterPaint();
  }

  /** Submit the judgment once the next pair is on the screen. Until then the outbox has it, and a page that is left sends it. */
  flushAfterPaint() {
    runAfterPaint(() => { if (!this.isEnded) this.exchange.flush(); });
  }

  /**
   * Keep one answer to a pair in the outbox. Returns its event, or null when this browser refused to keep it.
   * @param {Pair} pair
   * @param {NewAnswer} answer
   */
  keepAnswer(pair, { outcome, grade = null, reason = null, note = "" }) {
    /** @type {JudgmentEvent} */
    const event = {
      id: newId(), pair: pair.pair, outcome, grade, note, ...(reason ? { reason } : {}),
      pressed_at: new Date(this.outbox.takePressTime()).toISOString(), seconds: this.time.read(),
      document_sha256: pair.document.sha256, guideline_version: this.guideline.shownVersion, tab: this.tabs.id,
    };
    try { this.outbox.put(event); } catch {
      this.saveStatus.isStorageFull = true;
      this.saveStatus.paint();
      return null;
    }
    this.saveStatus.isStorageFull = false;
    this.saveStatus.countPress();
    if (this.progress && !pair.answer && outcome !== "later") this.progress.done = Math.min(this.progress.total, this.progress.done + 1);
    pair.before = pair.answer;
    pair.answer = outcome === "later" ? null : { outcome, grade, note, reason };
    pair.outdated = null;
    this.noteDrafts.write(pair.pair, "");
    this.remark.countAnswer();
    if (pair.answer && !pair.training) this.history.add(pair);
    this.say(outcome === "graded" ? fill(this.words.graded, { grade }) : this.words[`said_${outcome}`]);
    this.time.begin();
    return event;
  }

  /** Go on to the next pair once the answer to one of training has been explained. */
  goOn() {
    if (!this.notice.isExplained) return;
    if (this.current) this.view.forget(this.current.pair);
    this.notice.hide();
    this.next();
    if (this.current) this.view.focus();
    this.exchange.flush();
  }

  next() {
    if (this.isWholeQuery) return this.list.next();
    this.current = null;
    if (this.list.isAside && this.queue[0]?.training === false) return this.list.resume();
    const pair = this.queue.shift();
    if (pair) this.show(pair);
    else this.paintEmpty(this.words.loading);
  }

  // ---- dialogs ------------------------------------------------------------------------------------------

  focusDocument() { this.view.focus(); }

  /** @param {Pair} pair */
  propose(pair) {
    if (hasOpenDialog(this.root)) return;
    const { username, dataset, language, guideline } = this.settings;
    new ProposalDialog(this, {
      username, dataset, language, grades: guideline.grades, remark: (text) => this.remark.show(text),
      judge: (proposed, answer) => this.judgeProposed(proposed, answer),
    }, pair);
  }

  /**
   * @param {Pair} pair
   * @param {NewAnswer} answer
   */
  judgeProposed(pair, answer) {
    if (!this.keepAnswer(pair, answer)) return false;
    this.drop((ahead) => ahead.pair === pair.pair);
    this.exchange.request({});
    return true;
  }

  /** @param {Pair} pair */
  askQuestion(pair) {
    if (hasOpenDialog(this.root)) return;
    new QuestionDialog({ root: this.root, words: this.words, focusDocument: () => this.view.focus(), remark: (text) => this.remark.show(text) }, this.settings, pair);
  }

  /**
   * Show what has changed since the annotator's own answer.
   * @param {Pair} pair
   */
  async showChanges(pair) {
    const { words } = this;
    this.sheet.open(words.whatchanged, [make("p", "small", words.loading_changes)]);
    try {
      const changes = await askServer("/api/changes", { dataset: this.settings.dataset, pair: pair.pair });
      this.sheet.open(words.whatchanged, describeChanges(changes, words));
    } catch { this.sheet.open(words.whatchanged, [make("p", "", words.nochanges)]); }
  }

  // ---- whole-query mode -----------------------------------------------------------------------------------

  /** Show the list, or single pairs again. While the list waits for the end of training, say that it need not come back. */
  toggleList() {
    if (this.notice.isHolding) return;
    if (this.list.isAside) {
      this.list.isAside = false;
      this.list.close();
      return this.paintListButton();
    }
    this.showList(!this.isWholeQuery);
    if (this.isWholeQuery) return this.list.open();
    this.list.close();
    this.current = null;
    this.queue = [];
    this.next();
    this.exchange.flush();
  }

  /** @param {boolean} isShown */
  showList(isShown) {
    this.isWholeQuery = isShown;
    this.root.toggleAttribute("data-whole", isShown);
    this.at.list.hidden = !isShown;
    this.paintListButton();
    this.notice.hide();
  }

  // ---- beside the work --------------------------------------------------------------------------------------

  /**
   * Greet whoever judges here for the first time, with the guideline; tell a lead once who decides on what they judge.
   * @param {Progress} progress
   */
  welcome({ answered = 0 }) {
    const { words, settings, at } = this;
    this.isWelcomed = true;
    const key = `annotator/told/${encodeURIComponent(settings.username)}/${encodeURIComponent(settings.dataset)}`;
    const isNew = this.guideline.isFirstVisit && !answered && !hasOpenDialog(this.root);
    const hint = settings.is_lead && readStored(key) === null ? words.lead_labels : "";
    if (isNew) this.guideline.welcome(fill(words.welcome, { name: settings.name }), hint);
    else if (hint && at.remark.hidden) this.remark.show(hint);
    if (hint) writeStored(key, 1);
  }

  /** Show how many answers and decisions are new: the sidebar, which counts them too, is closed here. */
  async askNews() {
    const { words, at } = this;
    if (this.isEnded) return;
    try {
      const { news } = await askServer("/api/news", { dataset: this.settings.dataset });
      at.news.hidden = !news;
      at.news.setAttribute("aria-label", fill(words.news_long, { n: this.formatNumber(news) }));
      at.news.title = fill(words.news_long, { n: this.formatNumber(news) });
      at.news.replaceChildren(make("span", "", words.news), make("b", "", this.formatNumber(news)));
    } catch { /* the next time */ }
  }

  // ---- the exchange with the server -----------------------------------------------------------------------

  /** @returns {ExchangeRequest} */
  makeRequest() {
    const { isWholeQuery, notice } = this;
    this.forgetExpired();
    const have = isWholeQuery ? this.list.listOpenPairs() : this.listHeld().map((pair) => pair.pair);
    const ahead = this.progress || !findShownPair() ? PAIRS_AHEAD : PAIRS_AGAIN;
    const want = isWholeQuery ? (have.length || this.list.doneAt !== null ? 0 : MOST_OF_A_QUERY) : have.length >= ASK_BELOW ? 0 : ahead - have.length;
    const events = this.outbox.batch();
    const waiting = notice.isWaiting ? notice.event : null;  // another tab may have submitted what waits here for its explanation: ask again
    if (waiting && !events.some((event) => event.id === waiting.id)) events.push(waiting);
    return { dataset: this.settings.dataset, annotator: this.settings.username, tab: this.tabs.id, ...(isWholeQuery ? { whole: true } : {}), events, have, want };
  }

  /** Drop what was fetched ahead if its leases have run out, as after a night: others may have finished it, and what is open comes again. */
  forgetExpired() {
    if (Date.now() - this.takenAt > this.settings.lease_minutes * 60000) this.queue = [];
  }

  /** @param {string | null} trouble */
  noticeTrouble(trouble) {
    this.saveStatus.trouble = trouble;
    if (trouble) this.saveStatus.paint();
  }

  /**
   * Take notice of a press in another tab.
   * @param {StorageEvent} change
   */
  noticeStorage(change) {
    const event = this.outbox.findPressElsewhere(change);
    if (event) {
      this.saveStatus.elsewhere.set(event.pair, "elsewhere");
      this.drop((pair) => pair.pair === event.pair);
    }
    this.saveStatus.paint();
  }

  /** Return the pairs in this browser that still want an answer. */
  listHeld() { return this.current && !this.notice.isHolding ? [this.current, ...this.queue] : this.queue; }

  /** @param {(pair: Pair) => boolean} isDropped */
  drop(isDropped) { this.queue = this.queue.filter((pair) => !isDropped(pair)); }

  /**
   * @param {ExchangeAnswer} answer
   * @param {ExchangeRequest} request
   */
  take(answer, request) {
    this.takenAt = Date.now();
    this.outbox.remove([...answer.acknowledged, ...answer.refused.map((refusal) => refusal.id)]);
    for (const refusal of answer.refused) this.refuse(refusal, request.events.find((event) => event.id === refusal.id));
    const waiting = this.outbox.list();
    const { progress } = answer;
    this.idle = answer.idle;
    if (!this.progress) bringShownPairFirst(answer.pairs);
    this.progress = { ...progress, done: Math.min(progress.total, progress.done + waiting.filter((event) => event.outcome !== "later").length) };
    if (progress.added) this.remark.show(fill(this.words.newpairs, { n: this.formatNumber(progress.added) }));
    for (const pair of answer.pairs) {
      setLaterApart(pair);
      this.guideline.noticeVersion(pair.guideline_version);
    }
    this.notice.setTraining(answer.training ?? null);
    if (!request.whole || this.list.stepsAside(answer)) this.takePairs(answer, waiting);
    else if (request.want) this.list.take(answer.pairs);
    if (this.isWholeQuery) this.list.hear(answer, request);
    this.explain(answer, request);
    this.paintProgress();
    this.saveStatus.paint();
    if (!this.current && !this.notice.isHolding && !this.isWholeQuery) this.goAhead(answer, request);
    if (!this.isWelcomed && this.current) this.welcome(progress);
  }

  /**
   * Put what was handed out into the queue, but what is here, pressed, or in another tab already.
   * @param {ExchangeAnswer} answer
   * @param {JudgmentEvent[]} waiting
   */
  takePairs(answer, waiting) {
    const { current } = this;
    const present = new Set([...waiting, ...(current ? [current] : []), ...this.queue].map(({ pair }) => pair));
    for (const pair of answer.pairs) if (!present.has(pair.pair) && !this.tabs.isShown(pair.pair)) this.queue.push(pair);
    const judged = new Set(answer.judged ?? []);
    this.drop((pair) => judged.has(pair.pair) && !pair.answer);
    const { elsewhere } = this.saveStatus;
    if (current && judged.has(current.pair) && !current.answer && !elsewhere.has(current.pair)) elsewhere.set(current.pair, "needless");
  }

  /**
   * Show what training says to an answer. An answer that is kept but not explained was none in training any more.
   * @param {ExchangeAnswer} answer
   * @param {ExchangeRequest} request
   */
  explain(answer, request) {
    for (const feedback of answer.feedback ?? []) {
      const isShown = this.notice.explain(feedback, request.events.find((event) => event.id === feedback.id), this.tabs.id);
      if (isShown && !this.current) this.at.emptytext.textContent = "";
    }
    const id = this.notice.isWaiting ? this.notice.event?.id : undefined;
    if (id === undefined || !(answer.acknowledged.includes(id) || answer.refused.some((refusal) => refusal.id === id))) return;
    this.notice.hide();
    this.next();
  }

  /**
   * Go on when no pair is on the screen.
   * @param {ExchangeAnswer} answer
   * @param {ExchangeRequest} request
   */
  goAhead(answer, request) {
    if (this.queue.length) this.next();
    else if (answer.pairs.some((pair) => this.tabs.isShown(pair.pair))) this.askTabs();
    else if (!this.outbox.list().length && request.want) this.finish(answer.progress);
    else this.exchange.askAgain();
  }

  /** All that is left is on the screen of other tabs, or of one that crashed: ask which of them are still there. */
  askTabs() {
    this.tabs.ask();
    this.exchange.later(ASK_TABS_MS, () => this.exchange.flush());
  }

  /**
   * @param {Refusal} refusal
   * @param {JudgmentEvent | undefined} event
   */
  refuse({ id, why, code }, event) {
    const pairs = [...this.behind, ...(this.current ? [this.current] : []), ...this.queue, ...this.list.rows.map((row) => row.pair)];
    const pair = pairs.find((other) => other.pair === event?.pair);
    if (pair) pair.answer = pair.before ?? null;
    if (event) this.history.forget(event.pair);
    const document = pair?.document.title || pair?.document.doc_id || event?.pair || id;
    this.saveStatus.addRefused({ why, code, document, note: event?.note.trim() ?? "" });
  }

  forgetRefused() {
    this.saveStatus.forgetRefused();
    this.view.focus();
  }

  finish(progress = this.progress) {
    this.paintEmpty(this.describeEnd(progress), true);
    this.exchange.later(LOOK_AGAIN_MS, () => { if (!this.current) this.exchange.flush(); });
  }

  /**
   * Return what to say where no pair is left.
   * @param {Progress | null} progress
   */
  describeEnd(progress) {
    const { words, idle } = this, { done, total } = progress ?? { done: 0, total: 0 };
    if (!total) return idle?.pool ? words.notyours : words.nothing;
    if (done >= total) return fill(words.finished, { n: this.formatNumber(done) });
    return idle?.until ? fill(words.reserved, { n: this.formatNumber(total - done), time: formatTime(idle.until, this.settings.language) }) : words.nonenow;
  }

  // ---- going back -----------------------------------------------------------------------------------------

  /** @param {Pair} pair */
  remember(pair) {
    this.behind.push(pair);
    const forgotten = this.behind.length > MOST_BEHIND ? this.behind.shift() : undefined;
    if (forgotten) this.view.forget(forgotten.pair);
    this.visited.push(pair.pair);
  }

  async back() {
    if (this.isWholeQuery) return this.list.back();
    if (this.notice.isHolding) return;
    const pair = this.behind.pop();
    if (pair) return this.showAgain(pair);
    const key = this.visited.list().findLast((visited) => visited !== this.current?.pair && !this.queue.some((ahead) => ahead.pair === visited && ahead.answer));
    if (key) await this.open(key);
  }

  /**
   * Go back to a pair of the row of judgments.
   * @param {string} key
   */
  async goBackTo(key) {
    const { current } = this;
    if (this.notice.isHolding || current?.pair === key) return;
    const at = this.behind.findIndex((pair) => pair.pair === key);
    if (at >= 0) this.showAgain(this.behind.splice(at, 1)[0], true);
    else await this.open(key, true);
    this.view.focus();
  }

  /**
   * @param {Pair} pair
   * @param {boolean} [isJump] whether a pair on the screen that was only looked at does not come again
   */
  showAgain(pair, isJump = false) {
    const { current } = this;
    if (current && isJump && current.answer && !current.outdated) this.behind.push(current);
    else if (current) this.queue.unshift(current);
    this.say(this.words.wentback);
    this.show(pair);
  }

  /**
   * Bring an answered pair to the screen, with its answer; tell kindly when it can no longer be changed.
   * @param {string} key
   * @param {boolean} [isJump] as in `showAgain`
   */
  async open(key, isJump = false) {
    try {
      /** @type {Pair} */
      const pair = await askServer("/api/pair", { dataset: this.settings.dataset, pair: key });
      if (this.current?.pair === key || this.isEnded) return;
      setLaterApart(pair);
      this.drop((ahead) => ahead.pair === key);
      this.showAgain(pair, isJump);
    } catch (error) {
      const { code, status, message } = asRequestError(error);
      this.visited.remove(key);
      const why = this.words[`refused_${code}`] ?? (status ? message : this.words.why_unreachable);
      this.remark.show(fill(this.words.notopened, { why }));
      forgetAddress();
    }
  }

  // ---- drawing --------------------------------------------------------------------------------------------

  /** @param {Pair} pair */
  show(pair) {
    const { at } = this;
    this.current = pair;
    this.guideline.catchUp();
    this.root.dataset.pairId = pair.pair;
    this.tabs.tell(pair.pair);
    const wasEmpty = at.work.hidden;
    if (wasEmpty) {
      at.empty.hidden = true;
      at.work.hidden = false;
    }
    if (!this.queryText.isShown(pair.query)) {
      if (this.behind.length || this.list.past.length) markChange(at.query);
      this.queryText.show(pair.query, pair.query.language);
    }
    this.notice.show(pair);
    this.view.show(pair);
    writeText(at.position, pair.position ? ` · ${fill(this.words.pair_position, { at: pair.position[0], of: pair.position[1] })}` : "");
    const note = this.noteDrafts.read(pair.pair) || pair.answer?.note || pair.laterNote || "";
    if (at.note.value !== note) at.note.value = note;
    this.notice.markGrades(pair.answer?.grade, null);
    findActButton(this.root, "unrateable").setAttribute("aria-pressed", String(pair.answer?.outcome === "unrateable"));
    findActButton(this.root, "back").disabled = !this.behind.length && !this.visited.list().length;
    if (wasEmpty || isFocusLost(this.root)) this.view.focus();
    this.time.begin();
    if (wasEmpty || !at.alert.hidden) this.paintState();  // an alert may be about the pair before
    else runAfterPaint(() => this.paintState());
    const title = pair.document.title || pair.document.doc_id;
    this.say(`${this.words.query}: ${pair.query.text}. ${this.words.document}: ${title} ${at.strip.hidden ? "" : at.strip.textContent}`);
    runWhenIdle(() => { for (const ahead of this.queue.slice(0, 2)) this.view.prepare(ahead); });
  }

  layOut() {
    const { at, words } = this;
    at.heading.textContent = fill(words.heading, { dataset: this.settings.title });
    at.querylabel.textContent = words.query;
    at.narrativelabel.textContent = words.narrative;
    at.grades.setAttribute("aria-label", words.grade);
    at.judging.setAttribute("aria-label", words.judging);
    at.reading.setAttribute("aria-label", words.reading);
    at.strip.setAttribute("aria-label", words.strip);
    at.progress.setAttribute("aria-label", words.progress);
    at.history.setAttribute("aria-label", words.history);
    at.news.setAttribute("href", `/work?dataset=${encodeURIComponent(this.settings.dataset)}`);
    for (const [act, key] of BUTTONS) nameButton(findActButton(this.root, act), words[`do_${act}`], key);
    nameButton(findElement(at.sheet, "[data-close]", HTMLButtonElement), words.close, "Esc");
    nameButton(findElement(at.reasons, "[data-close]", HTMLButtonElement), words.cancel, "Esc");
    this.paintListButton();
    at.notelabel.replaceChildren(make("span", "", words.note), makeHiddenKey("n"));
    at.note.setAttribute("aria-keyshortcuts", "N");
    at.note.placeholder = matchMedia("(max-width: 820px)").matches ? words.note : words.notehint;  // there the label is not seen
  }

  paintListButton() {
    findActButton(this.root, "list").setAttribute("aria-pressed", String(this.isWholeQuery || this.list.isAside));
  }

  fit() { this.root.style.setProperty("--top", `${Math.max(0, this.root.getBoundingClientRect().top)}px`); }

  /**
   * Show a text where a pair would be.
   * @param {string} text
   * @param {boolean} [again] with a button that looks again
   */
  paintEmpty(text, again = false) {
    const { at } = this;
    const heldFocus = at.work.contains(findFocused(this.root));
    this.current = null;
    this.root.dataset.pairId = "";
    at.work.hidden = true;
    if (!this.notice.isHolding) this.notice.hide();
    at.empty.hidden = false;
    at.emptytext.textContent = text;
    findActButton(this.root, "again").hidden = !again;
    if (heldFocus) at.empty.focus();
    this.paintProgress();
    this.saveStatus.paint();
  }

  paintState() {
    this.history.paint(this.current);
    this.paintProgress();
    this.saveStatus.paint();
  }

  paintProgress() {
    const { at, words } = this, { done, total } = this.progress ?? { done: 0, total: 0 };
    at.filled.style.width = total ? `${(100 * done) / total}%` : "0";
    at.progress.setAttribute("aria-valuemax", String(total));
    at.progress.setAttribute("aria-valuenow", String(Math.min(done, total)));
    writeText(at.count, this.progress ? fill(words.count, { done: this.formatNumber(done), total: this.formatNumber(total) }) : "");
  }

  /** @param {string} text */
  say(text) { this.announcer.say(text, this.current); }

  /** @param {number} number */
  formatNumber(number) { return number.toLocaleString(this.settings.language); }
}

/**
 * Return the parts of the panel's HTML by the names that it gives them.
 * @param {HTMLElement} root
 */
function findParts(root) {
  /** @param {string} name */
  const find = (name) => findPart(root, name, HTMLElement);
  return {
    heading: find("heading"), progress: find("progress"), filled: find("filled"), count: find("count"), saved: find("saved"), alert: find("alert"),
    strip: find("strip"), work: find("work"), reading: find("reading"), querylabel: find("querylabel"), position: find("position"), query: find("query"),
    narrativebox: findPart(root, "narrativebox", HTMLDetailsElement), narrativelabel: find("narrativelabel"), narrative: find("narrative"), history: find("history"), news: find("news"),
    list: find("list"), viewer: find("viewer"), judging: find("judging"), grades: find("grades"), notelabel: find("notelabel"),
    note: findPart(root, "note", HTMLTextAreaElement), empty: find("empty"), emptytext: find("emptytext"), remark: find("remark"), live: find("live"),
    reasons: findPart(root, "reasons", HTMLDialogElement), reasontitle: find("reasontitle"), reasonlist: find("reasonlist"),
    sheet: findPart(root, "sheet", HTMLDialogElement), sheettitle: find("sheettitle"), sheetbody: find("sheetbody"),
  };
}

/**
 * Take apart what belongs to a pair that was put off: it comes back as one that is not answered, with the note that was typed.
 * @param {Pair} pair
 */
function setLaterApart(pair) {
  pair.putOff = pair.answer?.outcome === "later";
  if (!pair.putOff) return;
  pair.laterNote = pair.answer?.note;
  pair.answer = null;
}

/**
 * Colour the query's ground for a moment: it is another one than before.
 * @param {HTMLElement} query
 */
function markChange(query) {
  query.animate([{ backgroundColor: "color-mix(in srgb, var(--accent) 28%, transparent)" }, { backgroundColor: "transparent" }], { duration: 1600, easing: "ease-in" });
}

/**
 * Return a time of today as hours and minutes, any other with its day.
 * @param {string} time
 * @param {string} language
 */
function formatTime(time, language) {
  const date = new Date(time), isToday = date.toDateString() === new Date().toDateString();
  return date.toLocaleString(language, { timeStyle: "short", ...(isToday ? {} : { dateStyle: "medium" }) });
}

/** @returns {string} the key of the pair that was on the screen before a reload */
function findShownPair() {
  try { return sessionStorage.getItem("annotator/shown") ?? ""; } catch { return ""; }
}

/** @param {string} pair the key of the pair on the screen */
function keepShownPair(pair) {
  try { sessionStorage.setItem("annotator/shown", pair); } catch { /* then a reload may begin with another pair */ }
}

/**
 * Put the pair that was on the screen before a reload first: the server hands pairs out again in another order.
 * @param {Pair[]} pairs
 */
function bringShownPairFirst(pairs) {
  const shown = findShownPair();
  const at = pairs.findIndex(({ pair }) => pair === shown);
  if (at > 0) pairs.unshift(...pairs.splice(at, 1));
}

/** Take the pair out of the address: it has had its turn, and a reload shall not bring it again. */
function forgetAddress() {
  const address = new URL(location.href);
  if (!address.searchParams.has("pair")) return;
  address.searchParams.delete("pair");
  history.replaceState(history.state, "", address);
}
