// Hands presses in through POST /api/judgments and takes the next pairs out, one request at a time; tries again by
// itself.

import { takeFirstPairs } from "../../kit/panel/first_answer.js";
import { sendJson, sendJsonWhileLeaving } from "../../kit/panel/requests.js";

const ROUTE = "/api/judgments";
const MOST_WHILE_LEAVING = 50;
const EXCHANGE_VERSION = 1;  // as in web/labeling/api.py

/** @typedef {import("./messages.js").ExchangeRequest} ExchangeRequest */
/** @typedef {import("./messages.js").ExchangeAnswer} ExchangeAnswer */

/** Why a request was not answered, by its status. @type {Record<number, string>} */
const TROUBLES = { 401: "signedout", 403: "notallowed", 404: "nodataset", 409: "other_person", 423: "archived", 426: "other_version", 429: "unreachable", 503: "database" };

/**
 * What the exchange needs of the panel.
 * @typedef {object} ExchangeSettings
 * @property {string} username
 * @property {string} dataset
 * @property {import("./outbox.js").Outbox} outbox
 * @property {() => ExchangeRequest} makeRequest what to send now
 * @property {(answer: ExchangeAnswer, request: ExchangeRequest) => void} take
 * @property {(trouble: string | null) => void} noticeTrouble what stands in the way; null: nothing
 * @property {() => void} noticeStart called before each request
 */

export class Exchange {
  /** @param {ExchangeSettings} settings */
  constructor({ username, dataset, outbox, makeRequest, take, noticeTrouble, noticeStart }) {
    this.username = username;
    this.dataset = dataset;
    this.outbox = outbox;
    this.makeRequest = makeRequest;
    this.take = take;
    this.noticeTrouble = noticeTrouble;
    this.noticeStart = noticeStart;
    this.isClosed = false;
    this.isBusy = false;
    this.isInTrouble = false;
    this.againWanted = false;
    this.waitMs = 0;
    /** @type {Set<number>} */
    this.timers = new Set();
    /** @type {{ fields: Partial<ExchangeRequest>, resolve: () => void }[]} requests with fields of their own */
    this.special = [];
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    window.addEventListener("online", () => this.retryNow(), { signal });
    window.addEventListener("focus", () => this.retryNow(), { signal });
    window.addEventListener("pagehide", () => this.leave(), { signal });
  }

  close() {
    this.isClosed = true;
    for (const timer of this.timers) clearTimeout(timer);
    this.leave();
  }

  /** Submit what waits, and ask for what is needed. */
  flush() { this.run(); }

  /**
   * Make one request with fields of its own; resolves once it is answered.
   * @param {Partial<ExchangeRequest>} fields
   * @returns {Promise<void>}
   */
  request(fields) {
    return new Promise((resolve) => {
      this.special.push({ fields, resolve });
      this.run();
    });
  }

  /** Make another request behind the one whose answer is being taken. */
  askAgain() { this.againWanted = true; }

  async run() {
    if (this.isBusy) {
      this.againWanted = true;
      return;
    }
    this.isBusy = true;
    do {
      this.againWanted = false;
      this.noticeStart();
      const special = this.special[0];
      if (!(await this.exchange({ version: EXCHANGE_VERSION, ...this.makeRequest(), ...special?.fields }))) break;
      if (special) {
        this.special.shift();
        special.resolve();
      }
    } while (!this.isClosed && (this.againWanted || this.special.length || this.outbox.list().length));
    this.isBusy = false;
  }

  /**
   * Make one request. Resolves to true when it was answered; otherwise another is made later, and nothing is lost meanwhile.
   * @param {ExchangeRequest} request
   */
  async exchange(request) {
    let response;
    try { response = await (takeFirstPairs(request) ?? sendJson(ROUTE, request)); } catch { return this.retryLater(navigator.onLine ? "unreachable" : "offline"); }
    this.outbox.noticeClock(response.headers.get("date"));
    const trouble = TROUBLES[response.status];
    if (trouble) return this.retryLater(trouble);
    if (!response.ok) return this.retryLater(response.status < 500 ? "rejected" : "unreachable");
    let answer;
    try { answer = await response.json(); } catch { return this.retryLater("unreachable"); }
    if (!isExchangeAnswer(answer, request)) return this.retryLater("other_version");
    this.isInTrouble = false;
    this.noticeTrouble(null);
    this.waitMs = 0;
    this.take(answer, request);
    return true;
  }

  /** @param {string} trouble */
  retryLater(trouble) {
    this.isInTrouble = true;
    this.waitMs = Math.min(10000, this.waitMs ? this.waitMs * 1.7 : 400);
    this.later(this.waitMs, () => this.run());
    this.noticeTrouble(trouble);
    return false;
  }

  retryNow() {
    if (!this.isInTrouble && !this.outbox.list().length) return;
    this.waitMs = 0;
    this.run();
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

  /** Try a last time while the page goes away; the browser finishes that by itself. What fails waits in the outbox. */
  leave() {
    const events = this.outbox.batch(MOST_WHILE_LEAVING);
    if (events.length) sendJsonWhileLeaving(ROUTE, { dataset: this.dataset, annotator: this.username, events, have: [], want: 0 });
  }
}

/**
 * Return whether this is an answer that the page understands: a much older or newer server may say something else.
 * @param {any} answer
 * @param {ExchangeRequest} request
 * @returns {answer is ExchangeAnswer}
 */
function isExchangeAnswer(answer, request) {
  const hasLists = ["acknowledged", "refused", "pairs"].every((name) => Array.isArray(answer?.[name]));
  if (!hasLists || typeof answer.progress?.total !== "number") return false;
  return !request.events.length || answer.acknowledged.length + answer.refused.length > 0;
}
