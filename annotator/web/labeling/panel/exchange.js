// Hands presses in through POST /api/judgments and takes the next pairs out, one request at a time; tries again by
// itself. Also what the tabs of one annotator tell each other, so that no two show the same pair.

const AHEAD = 20, ASK_BELOW = 14;

class Exchange {
  constructor(panel) {
    Object.assign(this, { panel, outbox: panel.outbox, busy: false, again: false, wait: 0, timers: new Set(), extras: [], inOtherTabs: new Map() });
  }

  listen(on) {
    on(window, "online", () => this.retryNow());
    on(window, "offline", () => this.panel.saved.paint());
    on(window, "focus", () => this.retryNow());
    on(window, "storage", (e) => this.hearOtherTab(e));
    this.tab = tabId();
    this.tabs = new BroadcastChannel(this.outbox.prefix);
    this.tabs.onmessage = ({ data }) => this.hearTab(data);
    this.tabs.postMessage({ tab: this.tab, hello: true });
  }

  close() {
    for (const timer of this.timers) clearTimeout(timer);
    this.leave();
    this.tabs.close();
  }

  body(extra) {
    const { told, whole, list } = this.panel;
    const have = whole ? list.have?.() ?? [] : this.panel.held().map((pair) => pair.pair);
    const want = whole ? (have.length ? 0 : MOST_OF_A_QUERY) : have.length >= ASK_BELOW ? 0 : AHEAD - have.length;
    const events = this.outbox.batch();
    const { strip } = this.panel;  // another tab may have handed in what waits here for its explanation: ask again
    if (strip.waiting && !events.some((event) => event.id === strip.asked.id)) events.push(strip.event);
    return { dataset: told.dataset, annotator: told.username, tab: this.tab, ...(whole ? { whole: true } : {}), events, have, want, ...extra };
  }

  // Hand in what waits, and ask for what is needed. `extra`: further fields of one request; resolves once it is answered.
  flush(extra = null) {
    const answered = extra ? new Promise((resolve) => this.extras.push([extra, resolve])) : Promise.resolve();
    this.run();
    return answered;
  }

  async run() {
    if (this.busy) { this.again = true; return; }
    this.busy = true;
    do {
      this.again = false;
      this.panel.saved.paint();
      const [extra, resolve] = this.extras[0] ?? [null, null];
      if (!(await this.exchange(this.body(extra)))) break;
      if (resolve) { this.extras.shift(); resolve(); }
    } while (!this.panel.ended && (this.again || this.extras.length || this.outbox.list().length));
    this.busy = false;
  }

  // One request. True when it was answered; otherwise another is made later, and nothing is lost meanwhile.
  async exchange(body) {
    let answer;
    try {
      answer = await fetch("/api/judgments", {
        method: "POST", credentials: "same-origin", headers: { "Content-Type": "application/json" },
        body: JSON.stringify(body), signal: AbortSignal.timeout(20000),
      });
    } catch { return this.retryLater(navigator.onLine ? "unreachable" : "offline"); }
    this.outbox.hearClock(answer.headers.get("date"));
    const why = { 401: "signedout", 403: "notallowed", 404: "nodataset", 409: "other_person", 429: "unreachable", 503: "database" }[answer.status];
    if (why) return this.retryLater(why);
    if (!answer.ok) return this.retryLater(answer.status < 500 ? "rejected" : "unreachable");
    let told;
    try { told = await answer.json(); } catch { return this.retryLater("unreachable"); }
    if (!isAnswer(told, body)) return this.retryLater("other_version");
    this.panel.saved.trouble = null;
    this.wait = 0;
    this.panel.take(told, body);
    return true;
  }

  retryLater(why) {
    this.panel.saved.trouble = why;
    this.wait = Math.min(10000, this.wait ? this.wait * 1.7 : 400);
    this.later(this.wait, () => this.run());
    this.panel.saved.paint();
    return false;
  }

  retryNow() {
    if (this.panel.saved.trouble || this.outbox.list().length) { this.wait = 0; this.run(); }
  }

  later(ms, does) {
    const timer = setTimeout(() => { this.timers.delete(timer); if (!this.panel.ended) does(); }, ms);
    this.timers.add(timer);
  }

  // The page goes away: a last attempt that the browser finishes by itself. What fails waits in the outbox.
  leave() {
    this.tabs.postMessage({ tab: this.tab, pair: "" });
    const events = this.outbox.batch(50);
    if (!events.length) return;
    const body = JSON.stringify({ dataset: this.panel.told.dataset, annotator: this.panel.told.username, events, have: [], want: 0 });
    fetch("/api/judgments", { method: "POST", credentials: "same-origin", keepalive: body.length < 60000, headers: { "Content-Type": "application/json" }, body }).catch(() => {});
  }

  // ---- other tabs of the same annotator -------------------------------------------------------------------

  tellTabs(pair) { this.tabs.postMessage({ tab: this.tab, pair }); }

  // What one tab shows, the others take out of their queues.
  hearTab({ tab, pair, hello, taken }) {
    if (tab === this.tab) {  // a duplicated tab has taken its name along: the newer one gets another
      if (hello) this.tabs.postMessage({ tab, taken: true });
      else if (taken) this.tab = tabId(true);
      return;
    }
    if (hello) return this.tellTabs(this.panel.current?.pair ?? "");
    this.inOtherTabs.set(tab, pair);
    this.panel.drop((ahead) => ahead.pair === pair);
  }

  hearOtherTab(change) {
    const event = this.outbox.pressedElsewhere(change);
    if (event) {
      this.panel.saved.elsewhere.set(event.pair, "elsewhere");
      this.panel.drop((pair) => pair.pair === event.pair);
    }
    this.panel.saved.paint();
  }

  // All that is left is on the screen of other tabs, or of one that crashed: ask which of them are still there.
  askTabs() {
    this.inOtherTabs.clear();
    this.tabs.postMessage({ tab: this.tab, hello: true });
    this.later(2000, () => this.run());
  }
}

// A pair that was put off comes back as one that is not answered, with the note that was typed.
function setLaterApart(pair) {
  pair.putOff = pair.answer?.outcome === "later";
  if (!pair.putOff) return;
  pair.laterNote = pair.answer.note;
  pair.answer = null;
}

// Whether this is an answer that the page understands: a much older or newer server may say something else.
function isAnswer(told, body) {
  const lists = ["acknowledged", "refused", "pairs"].every((name) => Array.isArray(told?.[name]));
  return lists && typeof told.progress?.total === "number" && (!body.events.length || told.acknowledged.length + told.refused.length > 0);
}
