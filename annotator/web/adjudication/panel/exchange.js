// Fetches disputes ahead, and hands decisions in one after the other, in the background. A decision is tried again until
// the server has stored or refused it; it carries the pair and the state of it that were on the screen when it was pressed.

const AHEAD = 3, RENEW_MS = 100000, LOOK_AGAIN_MS = 30000, OTHER_TAB_MS = 20000;

class CaseExchange {
  constructor(panel) {
    Object.assign(this, { panel, unsent: panel.unsent, sending: false, filling: false, wait: 0, timers: new Set(), begun: Date.now() });
    this.tab = tabId();
  }

  listen(on) {
    for (const name of ["online", "focus"]) on(window, name, () => { this.wait = 0; this.send(); });
    on(window, "pagehide", () => this.leave());
    this.renewing = setInterval(() => { if (document.visibilityState === "visible") this.fill({ renew: true }); }, RENEW_MS);
  }

  close() {
    clearInterval(this.renewing);
    for (const timer of this.timers) clearTimeout(timer);
    this.leave();
  }

  // This tab's decisions; those of another that is gone or hangs too.
  mine() { return this.unsent.list().filter((entry) => entry.tab === this.tab || entry.pressed_at < Date.now() - OTHER_TAB_MS); }

  missing() { return Math.max(0, AHEAD + (this.panel.current ? 0 : 1) - this.panel.queue.length); }

  async send() {
    if (this.sending) return;
    this.sending = true;
    let answered = true;
    for (let entry; answered && !this.panel.ended && (entry = this.mine()[0]); ) answered = await this.sendOne(entry);
    this.sending = false;
    if (answered) this.fill();
  }

  async sendOne(entry) {
    const { shown: _shown, pressed_at: _pressed, id: _id, ...said } = entry, began = performance.now();
    const { status, told } = await postJson("/api/decisions", { ...said, have: this.panel.have(), want: entry.dataset === this.panel.told.dataset ? this.missing() : 0 });
    if (status === 200) {
      this.wait = 0;
      this.unsent.remove(entry);
      this.panel.stored(entry, told, began);
    } else if (status === 409 && told.code === "changed") {
      if (isStored(entry, told.case)) { this.unsent.remove(entry); this.panel.stored(entry, null, began); }
      else this.panel.refuse(entry, told.error, told.case);
    } else if (status === 400 || status === 404 || (status === 403 && told.code)) this.panel.refuse(entry, told.error ?? String(status), null);
    else return this.retryLater({ 401: "signedout", 403: "notallowed", 409: "other_person", 503: "database" }[status] ?? (navigator.onLine ? "unreachable" : "offline"), status >= 500);
    this.panel.saved.trouble = null;
    this.panel.saved.paint();
    return true;
  }

  retryLater(why, goesOn = false) {
    this.panel.saved.trouble = why;
    this.panel.saved.paint();
    this.wait = Math.min(10000, this.wait ? this.wait * 1.7 : 400);
    this.later(this.wait, () => this.send());
    if (goesOn) this.fill();
    return false;
  }

  later(ms, does) {
    const timer = setTimeout(() => { this.timers.delete(timer); if (!this.panel.ended) does(); }, ms);
    this.timers.add(timer);
  }

  // Gets what is missing; `pair`: this one first, whatever its state; `renew`: so that what is here stays held.
  async fill({ pair = null, renew = false } = {}) {
    const want = this.missing();
    if (this.filling || this.panel.ended || (!want && !pair && !renew)) return;
    this.filling = true;
    const began = performance.now();
    try {
      const told = await ask("/api/cases", { ...this.asked(want), ...(pair ? { pair } : {}) });
      this.wait = 0;
      this.filling = false;
      if (this.panel.saved.trouble && !this.mine().length) this.panel.saved.trouble = null;
      this.panel.take(told, began);
      if (!this.panel.current) this.panel.finish(pair);
    } catch (error) {
      this.filling = false;
      if (pair && (error.status === 404 || error.status === 400)) { this.panel.saved.tell(error.message); return this.fill(); }
      this.retryLater({ 401: "signedout", 403: "notallowed", 404: "nodataset", 503: "database" }[error.status] ?? (navigator.onLine ? "unreachable" : "offline"));
    }
    this.panel.saved.paint();
  }

  asked(want) {
    const { told } = this.panel;
    return { ...told.filter, dataset: told.dataset, tab: this.tab, want, have: this.panel.have().join(",") };
  }

  // One pair as it is now; null when it cannot be had.
  async look(pair) {
    try {
      const { cases, left } = await ask("/api/cases", { ...this.asked(0), pair });
      this.panel.left = left;
      return cases.find((one) => one.pair === pair) ?? null;
    } catch { return null; }
  }

  // The page goes away: a last attempt that the browser finishes by itself. What fails waits in this browser.
  leave() {
    for (const entry of this.mine()) {
      const { shown: _shown, pressed_at: _pressed, id: _id, ...said } = entry;
      beacon("/api/decisions", { ...said, have: [], want: 0 });
    }
    const pairs = this.panel.have();
    if (pairs.length) beacon("/api/cases/let-go", { dataset: this.panel.told.dataset, tab: this.tab, pairs });
  }
}

// Whether the refusal is of a decision that is stored: the answer to the first attempt was lost.
function isStored(entry, found) {
  const before = Number(entry.seen.split("-")[0]);
  const same = (one) => one?.yours && (one.outcome === "graded" ? one.grade : one.outcome) === entry.decided && one.rationale === entry.rationale.trim() && (one.cause ?? null) === entry.cause;
  return found.decisions.some((one) => one.revision > before && same(one)) || same(found.proposal);
}

async function postJson(route, body) {
  try {
    const answer = await fetch(route, {
      method: "POST", credentials: "same-origin", headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body), signal: AbortSignal.timeout(20000),
    });
    return { status: answer.status, told: await answer.json().catch(() => ({})) };
  } catch { return { status: 0, told: {} }; }
}

function beacon(route, body) {
  const text = JSON.stringify(body);
  fetch(route, { method: "POST", credentials: "same-origin", keepalive: text.length < 60000, headers: { "Content-Type": "application/json" }, body: text }).catch(() => {});
}
