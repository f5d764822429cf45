// Fetches disagreements ahead, and hands decisions in one after the other, in the background. A decision is tried again until
// the server has stored or refused it; it carries the pair and the state of it that were on the screen when it was pressed.

import { findTabId } from "../../kit/panel/ids.js";
import { asRequestError, askServer, postJson, sendJsonWhileLeaving } from "../../kit/panel/requests.js";
import { isStored } from "./disagreements.js";

const DISAGREEMENTS_AHEAD = 3;
const RENEW_MS = 100000;
const OTHER_TAB_MS = 20000;

/** @typedef {import("./messages.js").DecisionEntry} DecisionEntry */
/** @typedef {import("./messages.js").Disagreement} Disagreement */
/** @typedef {import("./messages.js").DisagreementBatch} DisagreementBatch */

/** Why a request was not answered, by its status. @type {Record<number, string>} */
const TROUBLES = { 401: "signedout", 403: "notallowed", 503: "database" };

/**
 * What the exchange needs of the panel.
 * @typedef {object} DecisionExchangeSettings
 * @property {import("./messages.js").DecisionPanelSettings} panel
 * @property {import("./decision_outbox.js").DecisionOutbox} outbox
 * @property {() => { have: string[], queued: number, hasCurrent: boolean }} findState the pairs that the panel holds
 * @property {(batch: DisagreementBatch, began: number) => void} take `began`: when it was asked for
 * @property {(left: number) => void} takeCount
 * @property {(entry: DecisionEntry, batch: DisagreementBatch | null, began: number) => void} noticeStored
 * @property {(entry: DecisionEntry, why: string, now: Disagreement | null) => void} refuse
 * @property {() => void} finish called when nothing came
 * @property {(trouble: string | null) => void} noticeTrouble
 * @property {(text: string) => void} remark
 */

export class DecisionExchange {
  /** @param {DecisionExchangeSettings} settings */
  constructor(settings) {
    this.settings = settings;
    this.outbox = settings.outbox;
    this.tab = findTabId();
    this.isClosed = false;
    this.isSending = false;
    this.isFilling = false;
    this.isInTrouble = false;
    this.waitMs = 0;
    /** @type {Set<number>} */
    this.timers = new Set();
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    const retry = () => {
      this.waitMs = 0;
      this.send();
    };
    window.addEventListener("online", retry, { signal });
    window.addEventListener("focus", retry, { signal });
    window.addEventListener("pagehide", () => this.leave(), { signal });
    this.renewing = setInterval(() => { if (document.visibilityState === "visible") this.fill({ renew: true }); }, RENEW_MS);
  }

  close() {
    this.isClosed = true;
    clearInterval(this.renewing);
    for (const timer of this.timers) clearTimeout(timer);
    this.leave();
  }

  /** Return this tab's decisions; those of another that is gone or hangs too. */
  listOwn() { return this.outbox.list().filter((entry) => entry.tab === this.tab || entry.pressed_at < Date.now() - OTHER_TAB_MS); }

  countMissing() {
    const { queued, hasCurrent } = this.settings.findState();
    return Math.max(0, DISAGREEMENTS_AHEAD + (hasCurrent ? 0 : 1) - queued);
  }

  async send() {
    if (this.isSending) return;
    this.isSending = true;
    let isAnswered = true;
    while (isAnswered && !this.isClosed) {
      const [entry] = this.listOwn();
      if (!entry) break;
      isAnswered = await this.sendEntry(entry);
    }
    this.isSending = false;
    if (isAnswered) this.fill();
  }

  /**
   * @param {DecisionEntry} entry
   * @returns {Promise<boolean>} whether it was answered
   */
  async sendEntry(entry) {
    const began = performance.now(), { dataset } = this.settings.panel;
    const { have } = this.settings.findState();
    const { status, answer } = await postJson("/api/decisions", { ...writeDecision(entry), have, want: entry.dataset === dataset ? this.countMissing() : 0 });
    const isChanged = status === 409 && answer.code === "changed";
    if (status === 200) {
      this.waitMs = 0;
      this.outbox.remove(entry);
      this.settings.noticeStored(entry, answer, began);
    } else if (isChanged && isStored(entry, answer.case)) {
      this.outbox.remove(entry);
      this.settings.noticeStored(entry, null, began);
    } else if (isChanged) this.settings.refuse(entry, answer.error, answer.case);
    else if (status === 400 || status === 404 || (status === 403 && answer.code)) this.settings.refuse(entry, answer.error ?? String(status), null);
    else return this.retryLater(status === 409 ? "other_person" : TROUBLES[status] ?? nameConnectionTrouble(), status >= 500);
    this.setTrouble(null);
    return true;
  }

  /** @param {string | null} trouble */
  setTrouble(trouble) {
    this.isInTrouble = trouble !== null;
    this.settings.noticeTrouble(trouble);
  }

  /**
   * @param {string} trouble
   * @param {boolean} [goesOn] whether disagreements may be fetched meanwhile
   */
  retryLater(trouble, goesOn = false) {
    this.setTrouble(trouble);
    this.waitMs = Math.min(10000, this.waitMs ? this.waitMs * 1.7 : 400);
    this.later(this.waitMs, () => this.send());
    if (goesOn) this.fill();
    return false;
  }

  /**
   * @param {number} ms
   * @param {() => void} work
   */
  later(ms, work) {
    const timer = setTimeout(() => {
      this.timers.delete(timer);
      if (!this.isClosed) work();
    }, ms);
    this.timers.add(timer);
  }

  /**
   * Get what is missing; `pair`: this one first, whatever its state; `renew`: so that what is here stays held.
   * @param {{ pair?: string | null, renew?: boolean }} [wishes]
   * @returns {Promise<void>}
   */
  async fill({ pair = null, renew = false } = {}) {
    const want = this.countMissing();
    if (this.isFilling || this.isClosed || (!want && !pair && !renew)) return;
    this.isFilling = true;
    const began = performance.now();
    try {
      /** @type {DisagreementBatch} */
      const batch = await askServer("/api/cases", { ...this.makeQuery(want), ...(pair ? { pair } : {}) });
      this.waitMs = 0;
      this.isFilling = false;
      if (this.isInTrouble && !this.listOwn().length) this.setTrouble(null);
      this.settings.take(batch, began);
      if (!this.settings.findState().hasCurrent) this.settings.finish();
    } catch (error) {
      this.isFilling = false;
      const { status, message } = asRequestError(error);
      if (pair && (status === 404 || status === 400)) {
        this.settings.remark(message);
        return this.fill();
      }
      this.retryLater(status === 404 ? "nodataset" : TROUBLES[status] ?? nameConnectionTrouble());
    }
  }

  /** @param {number} want */
  makeQuery(want) {
    const { filter, dataset } = this.settings.panel;
    return { ...filter, dataset, tab: this.tab, want, have: this.settings.findState().have.join(",") };
  }

  /**
   * Return one pair as it is now; null when it cannot be had.
   * @param {string} pair
   */
  async look(pair) {
    try {
      /** @type {DisagreementBatch} */
      const { cases, left } = await askServer("/api/cases", { ...this.makeQuery(0), pair });
      this.settings.takeCount(left);
      return cases.find((disagreement) => disagreement.pair === pair) ?? null;
    } catch { return null; }
  }

  /** Try a last time while the page goes away; the browser finishes that by itself. What fails waits in this browser. */
  leave() {
    for (const entry of this.listOwn()) sendJsonWhileLeaving("/api/decisions", { ...writeDecision(entry), have: [], want: 0 });
    const pairs = this.settings.findState().have;
    if (pairs.length) sendJsonWhileLeaving("/api/cases/let-go", { dataset: this.settings.panel.dataset, tab: this.tab, pairs });
  }
}

/**
 * Return what is sent of an entry.
 * @param {DecisionEntry} entry
 */
function writeDecision({ shown: _shown, pressed_at: _pressedAt, id: _id, ...decision }) { return decision; }

function nameConnectionTrouble() { return navigator.onLine ? "unreachable" : "offline"; }
