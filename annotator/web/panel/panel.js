// The labeling panel. Holds pairs ahead, binds every press to the pair on the screen, shows the next pair at
// once, and hands presses in through POST /api/judgments; the outbox keeps them until they are acknowledged.
// A press is ignored when the key repeats by itself, comes with a modifier, from an input method, or from a
// text field. Everything shown is set as text: a document cannot run anything.

const AHEAD = 20, ASK_BELOW = 14, MOST_EVENTS = 100, LATE_MS = 1500, IDLE_SECONDS = 120, REMEMBERED = 50;
const panels = new WeakMap();

export default function (component) {
  const root = component.parentElement.querySelector(".panel");
  const told = JSON.parse(component.data.told);
  const known = panels.get(root);
  if (known && known.same(told)) return () => known.stop();
  known?.stop();
  const panel = new Panel(root, told);
  panels.set(root, panel);
  panel.start();
  return () => panel.stop();
}

class Panel {
  constructor(root, told) {
    this.root = root;
    this.told = told;
    this.words = told.words;
    this.at = Object.fromEntries([...root.querySelectorAll("[data-at]")].map((e) => [e.dataset.at, e]));
    this.outbox = new Outbox(told.username, told.dataset);
    this.drafts = new Drafts(told.username, told.dataset);
    this.view = new DocumentView(this.at.viewer, { dataset: told.dataset, words: told.words });
    Object.assign(this, { queue: [], current: null, behind: [], refused: [], progress: null,
      busy: false, again: false, wait: 0, trouble: null, ended: false, timers: new Set(), elsewhere: new Map(), inOtherTabs: new Map() });
  }

  same(told) { return !this.ended && told.username === this.told.username && told.dataset === this.told.dataset; }

  start() {
    this.stopListening = new AbortController();
    const on = (target, name, does) => target.addEventListener(name, does, { signal: this.stopListening.signal });
    on(document, "keydown", (e) => this.key(e));
    on(window, "pagehide", () => this.leave());
    on(window, "online", () => this.retryNow());
    on(window, "offline", () => this.paintSaved());
    on(window, "focus", () => this.retryNow());
    on(window, "resize", () => this.fit());
    on(window, "storage", (e) => this.hearOtherTab(e));
    on(document, "visibilitychange", () => this.countTime());
    on(this.root, "click", (e) => this.click(e));
    on(this.at.note, "input", () => this.current && this.drafts.write(this.current.pair, this.at.note.value));
    on(this.at.note, "keydown", (e) => { if (e.key === "Escape" && !e.isComposing) this.view.focus(); });
    this.tab = tabId();
    this.tabs = new BroadcastChannel(this.outbox.prefix);
    this.tabs.onmessage = ({ data }) => this.hearTab(data);
    this.tabs.postMessage({ tab: this.tab, hello: true });
    this.layOut();
    this.fit();
    this.paintEmpty(this.words.loading);
    this.flush();
    this.ticking = setInterval(() => this.paintSaved(), 500);
    this.handInOthers(this.told.dataset);
  }

  stop() {
    if (this.ended) return;
    this.ended = true;
    this.stopListening.abort();
    clearInterval(this.ticking);
    for (const timer of this.timers) clearTimeout(timer);
    this.leave();
    this.tabs.close();
    this.handInOthers(null);
  }

  // What waits for datasets whose panel is not open, also this one's once it is closed, is handed in beside.
  async handInOthers(open) {
    const mine = this.told.username;
    if (!(await handInOthers(mine, open)) && (open === null) === this.ended) setTimeout(() => this.handInOthers(open), 5000);
  }

  // ---- pressing -----------------------------------------------------------------------------------------

  key(e) {
    if (e.repeat || e.ctrlKey || e.altKey || e.metaKey || e.isComposing || e.keyCode === 229 || e.defaultPrevented) return;
    const target = e.composedPath()[0];
    if (target instanceof Element && (target.isContentEditable || target.closest("input,textarea,select,[role=dialog],[role=menu],[role=listbox],[role=combobox]"))) return;
    const act = this.actOf(e);
    if (act === null) return;
    e.preventDefault();
    this.act(act);
  }

  actOf(e) {
    if (/^[0-3]$/.test(e.key)) return Number(e.key);
    const digit = /^(?:Digit|Numpad)([0-3])$/.exec(e.code);
    if (digit && !e.shiftKey && !/^[0-9]$/.test(e.key) && e.code.startsWith("Digit") && e.key.length === 1) return Number(digit[1]);
    if (e.shiftKey) return null;
    return { u: "unrateable", l: "later", z: "back", Backspace: "back", n: "note" }[e.key] ?? null;
  }

  click(e) {
    const button = e.target.closest?.("[data-act]");
    if (!button || button.disabled) return;
    this.act(/^[0-3]$/.test(button.dataset.act) ? Number(button.dataset.act) : button.dataset.act);
  }

  act(what) {
    if (what === "again") return this.flush();
    if (what === "forget") { this.refused = []; return this.paintSaved(); }
    if (!this.current) return;
    if (what === "note") return this.at.note.focus();
    if (what === "back") return this.back();
    this.judge(typeof what === "number" ? "graded" : what, typeof what === "number" ? what : null);
  }

  judge(outcome, grade) {
    const pair = this.current;
    const event = {
      id: newId(), pair: pair.pair, outcome, grade, note: this.at.note.value,
      pressed_at: new Date(this.outbox.pressTime()).toISOString(), seconds: this.countTime(),
      document_sha256: pair.document.sha256, guideline_version: pair.guideline_version,
    };
    try { this.outbox.put(event); }
    catch { this.trouble = "storage"; this.paintSaved(); return; }
    if (this.trouble === "storage") this.trouble = null;
    if (this.progress && !pair.answer && outcome !== "later") this.progress.done++;
    pair.answer = outcome === "later" ? null : { outcome, grade };
    pair.note = event.note;
    this.drafts.write(pair.pair, "");
    if (outcome !== "later") { this.behind.push(pair); if (this.behind.length > REMEMBERED) this.view.forget(this.behind.shift().pair); }
    this.say(outcome === "graded" ? this.words.graded.replace("{grade}", grade) : this.words[outcome]);
    this.next();
    this.flush();
  }

  back() {
    const pair = this.behind.pop();
    if (!pair) return;
    if (this.current) this.queue.unshift(this.current);
    this.say(this.words.wentback);
    this.show(pair);
  }

  next() {
    this.current = null;
    const pair = this.queue.shift();
    if (pair) this.show(pair);
    else this.paintEmpty(this.words.loading);
  }

  // ---- showing ------------------------------------------------------------------------------------------

  show(pair) {
    this.current = pair;
    this.root.dataset.pairId = pair.pair;
    this.tabs.postMessage({ tab: this.tab, pair: pair.pair });
    this.at.empty.hidden = true;
    this.at.work.hidden = false;
    this.at.query.textContent = pair.query.text;
    this.at.narrative.textContent = pair.query.narrative ?? "";
    this.view.show(pair);
    this.at.note.value = this.drafts.read(pair.pair) || pair.note || "";
    for (const button of this.at.grades.children) button.setAttribute("aria-pressed", String(pair.answer?.grade === Number(button.dataset.act)));
    this.root.querySelector("[data-act=back]").disabled = !this.behind.length;
    this.shownAt = performance.now();
    this.seconds = 0;
    this.paintProgress();
    this.paintSaved();
    this.say(`${this.words.query}: ${pair.query.text}. ${this.words.document}: ${pair.document.title || pair.document.doc_id}`);
    (window.requestIdleCallback ?? setTimeout)(() => { for (const ahead of this.queue.slice(0, 2)) this.view.prepare(ahead); });
  }

  layOut() {
    this.at.heading.textContent = this.words.heading.replace("{dataset}", this.told.title);
    this.at.querylabel.textContent = this.words.query;
    this.at.grades.setAttribute("aria-label", this.words.grade);
    this.at.progress.setAttribute("aria-label", this.words.progress);
    this.at.standardlabel.textContent = this.words.standard;
    this.at.standard.textContent = this.told.guideline;
    this.at.standard.parentElement.hidden = !this.told.guideline;
    this.at.grades.replaceChildren(...this.told.grades.map((grade) => {
      const button = make("button");
      button.type = "button";
      button.dataset.act = grade.grade;
      button.setAttribute("aria-keyshortcuts", String(grade.grade));
      button.append(make("kbd", "", grade.grade), make("span", "name", grade.name), make("span", "meaning", grade.definition));
      return button;
    }));
    for (const [act, key] of [["back", "z"], ["later", "l"], ["unrateable", "u"], ["again", ""]]) {
      const button = this.root.querySelector(`[data-act=${act}]`);
      if (key) button.setAttribute("aria-keyshortcuts", key.toUpperCase());
      button.replaceChildren(make("span", "", this.words[`do_${act}`]), ...(key ? [make("kbd", "", key)] : []));
    }
    this.at.notelabel.replaceChildren(make("span", "", this.words.note), make("kbd", "", "n"));
    this.at.note.placeholder = this.words.notehint;
  }

  fit() {
    this.root.style.setProperty("--top", `${Math.max(0, this.root.getBoundingClientRect().top)}px`);
  }

  paintEmpty(text, again = false) {
    this.current = null;
    this.root.dataset.pairId = "";
    this.at.work.hidden = true;
    this.at.empty.hidden = false;
    this.at.emptytext.textContent = text;
    this.root.querySelector("[data-act=again]").hidden = !again;
    this.paintProgress();
    this.paintSaved();
  }

  paintProgress() {
    const { done, total } = this.progress ?? { done: 0, total: 0 };
    this.at.filled.style.width = total ? `${(100 * done) / total}%` : "0";
    this.at.progress.setAttribute("aria-valuemax", String(total));
    this.at.progress.setAttribute("aria-valuenow", String(Math.min(done, total)));
    this.at.count.textContent = this.progress ? this.words.count.replace("{done}", done.toLocaleString()).replace("{total}", total.toLocaleString()) : "";
  }

  // "n not saved yet": said quietly at once, and unmissably when it lasts or something stands in the way.
  paintSaved() {
    const waiting = this.outbox.list();
    const late = waiting.length > 0 && Date.now() - Date.parse(waiting[0].pressed_at) > LATE_MS;
    this.root.dataset.unsaved = String(waiting.length);
    this.root.toggleAttribute("data-late", late);
    this.at.saved.textContent = waiting.length ? this.words.unsaved.replace("{n}", waiting.length) : this.progress ? this.words.allsaved : "";
    const why = this.trouble ?? (late ? (navigator.onLine ? "slow" : "offline") : null);
    const elsewhere = this.current && this.elsewhere.get(this.current.pair);
    this.alert(why, waiting.length, elsewhere);
  }

  alert(why, n, elsewhere) {
    const state = JSON.stringify([why, n, elsewhere, this.refused.length]);
    if (state === this.alerted) return;
    this.alerted = state;
    const parts = [];
    if (why) {
      const text = this.words[`why_${why}`];
      parts.push(make("span", "", (n ? this.words.unsavedlong.replace("{n}", n) + " " : "") + text + " "));
      if (why === "signedout") parts.push(signInLink(this.words.signin));
    }
    if (elsewhere && !why) parts.push(make("span", "", this.words.elsewhere));
    if (this.refused.length) {
      const list = make("ul");
      for (const event of this.refused) list.append(make("li", "", `${event.document}: ${event.why}`));
      const forget = make("button", "", this.words.forget);
      forget.type = "button";
      forget.dataset.act = "forget";
      parts.push(make("span", "", this.words.refused.replace("{n}", this.refused.length)), list, forget);
    }
    this.at.alert.replaceChildren(...parts);
    this.at.alert.hidden = !parts.length;
  }

  say(text) {
    this.spoken = this.spokenFor === this.current ? `${this.spoken} ${text}` : text;
    this.spokenFor = this.current;
    this.at.live.textContent = this.spoken;
  }

  // Active seconds on the pair: visible, and not longer than a person looks without doing anything.
  countTime() {
    const now = performance.now();
    if (this.shownAt !== null) this.seconds += Math.min(IDLE_SECONDS, (now - this.shownAt) / 1000);
    this.shownAt = document.hidden ? null : now;
    return Math.round(this.seconds * 10) / 10;
  }

  // ---- handing in ---------------------------------------------------------------------------------------

  request() {
    const have = [this.current, ...this.queue].filter(Boolean).map((pair) => pair.pair);
    const events = this.outbox.list().slice(0, MOST_EVENTS);
    return { dataset: this.told.dataset, tab: this.tab, events, have, want: have.length < ASK_BELOW ? AHEAD - have.length : 0 };
  }

  async flush() {
    if (this.busy) { this.again = true; return; }
    this.busy = true;
    do {
      this.again = false;
      this.paintSaved();
    } while ((await this.exchange(this.request())) && !this.ended && (this.again || this.outbox.list().length));
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
    if (answer.status === 401) return this.retryLater("signedout");
    if (answer.status === 403) return this.retryLater("notallowed");
    if (!answer.ok) return this.retryLater(answer.status < 500 && answer.status !== 429 ? "rejected" : "unreachable");
    try { this.take(await answer.json(), body); } catch { return this.retryLater("unreachable"); }
    return true;
  }

  take(told, body) {
    if (body.events.length && !told.acknowledged.length && !told.refused.length) throw new Error("nothing was answered");
    this.trouble = null;
    this.wait = 0;
    this.outbox.remove([...told.acknowledged, ...told.refused.map((event) => event.id)]);
    for (const { id, why } of told.refused) {
      const event = body.events.find((e) => e.id === id);
      const pair = this.behind.find((p) => p.pair === event?.pair);
      this.refused.push({ why, document: pair?.document.title || pair?.document.doc_id || event?.pair || id });
    }
    const waiting = new Set(this.outbox.list().map((event) => event.pair));
    const gone = new Set(told.judged ?? []);
    const mine = new Set([this.current, ...this.queue].filter(Boolean).map((pair) => pair.pair));
    const others = new Set(this.inOtherTabs.values());
    for (const pair of told.pairs) if (!mine.has(pair.pair) && !waiting.has(pair.pair) && !others.has(pair.pair)) this.queue.push(pair);
    this.queue = this.queue.filter((pair) => !gone.has(pair.pair) || pair.answer);
    this.progress = { done: told.progress.done + this.outbox.list().filter((e) => e.outcome !== "later").length, total: told.progress.total };
    this.paintProgress();
    this.paintSaved();
    if (this.current) return;
    if (this.queue.length) this.next();
    else if (told.pairs.some((pair) => others.has(pair.pair))) this.askTabs();
    else if (!this.outbox.list().length && body.want) this.finish(told.progress);
    else this.again = true;
  }

  finish({ done, total }) {
    this.paintEmpty(total === 0 ? this.words.nothing : done ? this.words.finished.replace("{n}", done.toLocaleString()) : this.words.nonenow, true);
    this.later(30000, () => !this.current && this.flush());
  }

  retryLater(why) {
    this.trouble = why;
    this.wait = Math.min(10000, this.wait ? this.wait * 1.7 : 400);
    this.later(this.wait, () => this.flush());
    this.paintSaved();
    return false;
  }

  retryNow() {
    if (this.trouble || this.outbox.list().length) { this.wait = 0; this.flush(); }
  }

  later(ms, does) {
    const timer = setTimeout(() => { this.timers.delete(timer); if (!this.ended) does(); }, ms);
    this.timers.add(timer);
  }

  // All that is left is on the screen of other tabs, or of one that crashed: ask which of them are still there.
  askTabs() {
    this.inOtherTabs.clear();
    this.tabs.postMessage({ tab: this.tab, hello: true });
    this.later(2000, () => this.flush());
  }

  // The page goes away: a last attempt that the browser finishes by itself. What fails waits in the outbox.
  leave() {
    this.tabs.postMessage({ tab: this.tab, pair: "" });
    const events = this.outbox.list().slice(0, 50);
    if (!events.length) return;
    const body = JSON.stringify({ dataset: this.told.dataset, events, have: [], want: 0 });
    fetch("/api/judgments", { method: "POST", credentials: "same-origin", keepalive: body.length < 60000, headers: { "Content-Type": "application/json" }, body }).catch(() => {});
  }

  // Two tabs of one annotator share the work: what one shows, the other takes out of its queue.
  hearTab({ tab, pair, hello, taken }) {
    if (tab === this.tab) {  // a duplicated tab has taken its name along: the newer one gets another
      if (hello) this.tabs.postMessage({ tab, taken: true });
      else if (taken) this.tab = tabId(true);
      return;
    }
    if (hello) return this.tabs.postMessage({ tab: this.tab, pair: this.current?.pair ?? "" });
    this.inOtherTabs.set(tab, pair);
    this.queue = this.queue.filter((ahead) => ahead.pair !== pair);
  }

  hearOtherTab(change) {
    const event = this.outbox.pressedElsewhere(change);
    if (event) {
      this.elsewhere.set(event.pair, event.outcome);
      this.queue = this.queue.filter((pair) => pair.pair !== event.pair);
    }
    this.paintSaved();
  }
}

function make(tag, name = "", text = null) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== null) element.textContent = text;
  return element;
}

// A UUID also where crypto.randomUUID is missing (plain http on an address that is not this machine's).
function newId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 15) | 64;
  bytes[8] = (bytes[8] & 63) | 128;
  return [...bytes].map((b, i) => ([4, 6, 8, 10].includes(i) ? "-" : "") + b.toString(16).padStart(2, "0")).join("");
}

// The name of this tab, which it keeps over a reload.
function tabId(anew = false) {
  try {
    const kept = anew ? null : sessionStorage.getItem("annotator/tab");
    const id = kept ?? newId();
    sessionStorage.setItem("annotator/tab", id);
    return id;
  } catch { return newId(); }
}

function signInLink(text) {
  const link = make("a", "", text);
  link.href = `/login?next=${encodeURIComponent(location.pathname + location.search)}`;
  return link;
}
