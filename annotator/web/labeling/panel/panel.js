// The labeling panel. Holds pairs ahead, binds every press to the pair on the screen and shows the next one at once.
// Its parts: the exchange with the server and the outbox, the view of the document, the standard beside it, the strip
// above it, what has been saved. Everything shown is set as text: a document cannot run anything.

const REMEMBERED = 50;
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
    Object.assign(this, { root, told, words: told.words, queue: [], current: null, behind: [], progress: null, ended: false, whole: false });
    this.at = Object.fromEntries([...root.querySelectorAll("[data-at]")].map((e) => [e.dataset.at, e]));
    this.outbox = new Outbox(told.username, told.dataset);
    this.drafts = new Drafts(told.username, told.dataset);
    this.trail = new Trail(told.username, told.dataset);
    this.time = new ActiveTime(told.idle_seconds);
    this.view = new DocumentView(this.at.viewer, { dataset: told.dataset, words: told.words });
    this.saved = new SavedState(this);
    this.standard = new Standard(this);
    this.strip = new Strip(this);
    this.dialogs = new Dialogs(this);
    this.exchange = new Exchange(this);
    this.list = typeof ListView === "undefined" ? { key: () => false } : new ListView(this.at.list, this);
  }

  same(told) {
    return !this.ended && ["username", "dataset", "language", "pair"].every((name) => told[name] === this.told[name]);
  }

  start() {
    this.stopListening = new AbortController();
    const on = (target, name, does, options = {}) => target.addEventListener(name, does, { signal: this.stopListening.signal, ...options });
    on(document, "keydown", (e) => this.key(e));
    on(window, "pagehide", () => this.exchange.leave());
    on(window, "resize", () => this.fit());
    on(this.root, "click", (e) => this.click(e));
    on(this.at.note, "input", () => this.current && this.drafts.write(this.current.pair, this.at.note.value));
    on(this.at.note, "keydown", (e) => { if (e.key === "Escape" && !e.isComposing) this.view.focus(); });
    for (const part of [this.time, this.dialogs, this.exchange]) part.listen(on);
    this.layOut();
    this.fit();
    this.saved.full = !this.outbox.works();
    this.paintEmpty(this.words.loading);
    if (this.told.pair) this.open(this.told.pair).then(() => this.exchange.flush());
    else this.exchange.flush();
    this.ticking = setInterval(() => this.saved.paint(), 500);
    this.handInOthers(this.told.dataset);
  }

  stop() {
    if (this.ended) return;
    this.ended = true;
    this.stopListening.abort();
    clearInterval(this.ticking);
    this.exchange.close();
    this.handInOthers(null);
  }

  // What waits for datasets whose panel is not open, also this one's once it is closed, is handed in beside.
  async handInOthers(open) {
    const mine = this.told.username;
    if (!(await handInOthers(mine, open)) && (open === null) === this.ended) setTimeout(() => this.handInOthers(open), 5000);
  }

  // ---- pressing -----------------------------------------------------------------------------------------

  key(e) {
    if (this.root.querySelector("dialog[open]")) return;
    if (this.whole && !e.defaultPrevented && this.list.key(e)) return e.preventDefault();
    const act = actOf(e);
    if (act === null || (act === "goon" && !this.strip.explained)) return;
    e.preventDefault();
    this.act(act === "confirm" && this.strip.explained ? "goon" : act);
  }

  click(e) {
    const button = e.target.closest?.("[data-act]");
    if (!button || button.disabled) return;
    const grade = /^[0-3]$/.test(button.dataset.act);
    this.act(grade ? Number(button.dataset.act) : button.dataset.act);
    if (grade && e.detail && !this.strip.explained) this.view.focus();  // or Space, meant to scroll, would press it again
  }

  act(what) {
    const ways = {
      again: () => this.exchange.flush(), forget: () => this.saved.forgetRefused(), close_remark: () => this.saved.closeRemark(),
      help: () => this.standard.openSheet(), list: () => this.toggleList(), goon: () => this.goOn(), back: () => this.back(),
      propose: () => this.list.propose?.(this.current),
    };
    if (what in ways) return ways[what]();
    if (!this.current) return;
    const here = {
      note: () => this.at.note.focus(), find: () => this.view.find(), down: () => this.view.scroll(1), up: () => this.view.scroll(-1),
      previous: () => this.view.nextMatch(-1), following: () => this.view.nextMatch(1), confirm: () => this.confirm(),
      changes: () => this.strip.showChanges(this.current), question: () => this.list.askQuestion?.(this.current),
      unrateable: () => this.cannotRate(), later: () => this.judge({ outcome: "later" }),
    };
    if (what in here) here[what]();
    else if (typeof what === "number") this.judge({ outcome: "graded", grade: what });
  }

  async cannotRate() {
    if (this.strip.asked) return;
    const pair = this.current;
    const reason = await this.dialogs.askReason();
    if (reason && this.current === pair) this.judge({ outcome: "unrateable", reason });
  }

  // Enter: an answer that is asked for again is given again; one that was only looked at stays as it is.
  confirm() {
    const { answer, outdated } = this.current;
    if (!answer || this.strip.asked) return;
    if (outdated) return this.judge({ outcome: answer.outcome, grade: answer.grade, reason: answer.reason });
    if (!this.at.note.value.trim() || this.at.note.value === answer.note) this.drafts.write(this.current.pair, "");
    this.forgetAddress();
    this.behind.push(this.current);
    this.next();
    this.exchange.flush();
  }

  judge(answer) {
    const pair = this.current;
    if (this.strip.asked) return this.say(this.words.training_waits);
    const event = this.judgePair(pair, { ...answer, note: this.at.note.value });
    if (!event) return;
    this.forgetAddress();
    if (pair.training && event.outcome !== "later") this.strip.wait(event);
    else {
      if (event.outcome !== "later") this.remember(pair);
      this.next();
    }
    this.exchange.flush();
  }

  // Keeps one answer to a pair in the outbox; the event, or null when this browser refused to keep it.
  judgePair(pair, { outcome, grade = null, reason = null, note = "" }) {
    const event = {
      id: newId(), pair: pair.pair, outcome, grade, note, ...(reason ? { reason } : {}),
      pressed_at: new Date(this.outbox.pressTime()).toISOString(), seconds: this.time.read(),
      document_sha256: pair.document.sha256, guideline_version: this.standard.shown, tab: this.exchange.tab,
    };
    try { this.outbox.put(event); }
    catch { this.saved.full = true; this.saved.paint(); return null; }
    this.saved.full = false;
    if (this.progress && !pair.answer && outcome !== "later") this.progress.done = Math.min(this.progress.total, this.progress.done + 1);
    pair.before = pair.answer;
    pair.answer = outcome === "later" ? null : { outcome, grade, note, reason };
    pair.outdated = null;
    this.drafts.write(pair.pair, "");
    this.saved.answered();
    this.say(outcome === "graded" ? fill(this.words.graded, { grade }) : this.words[`said_${outcome}`]);
    this.time.begin();
    return event;
  }

  // Training goes on to the next pair once its answer has been explained.
  goOn() {
    if (!this.strip.explained) return;
    if (this.current) this.view.forget(this.current.pair);
    this.strip.hide();
    this.next();
    if (this.current) this.view.focus();
    this.exchange.flush();
  }

  next() {
    this.current = null;
    if (this.list.aside && this.queue[0]?.training === false) return this.list.resume();
    const pair = this.queue.shift();
    if (pair) this.show(pair);
    else this.paintEmpty(this.words.loading);
  }

  // ---- whole-query mode, and what it is offered ----------------------------------------------------------

  // While the list waits for the end of training, its key and button say that it need not come back.
  toggleList() {
    if (typeof ListView === "undefined" || this.strip.asked) return;
    if (this.list.aside) {
      this.list.aside = false;
      this.list.close();
      return this.paintListButton();
    }
    this.showList(!this.whole);
    if (this.whole) return this.list.open();
    this.list.close();
    this.current = null;
    this.queue = [];
    this.next();
    this.exchange.flush();
  }

  showList(whole) {
    this.whole = whole;
    this.root.toggleAttribute("data-whole", whole);
    this.at.list.hidden = !whole;
    this.paintListButton();
    this.strip.hide();
  }

  request(extra = {}) { return this.exchange.flush(extra); }

  askReason() { return this.dialogs.askReason(); }

  // ---- what the server says -------------------------------------------------------------------------------

  // The pairs in this browser that still want an answer.
  held() { return [this.strip.asked ? null : this.current, ...this.queue].filter(Boolean); }

  drop(which) { this.queue = this.queue.filter((pair) => !which(pair)); }

  take(told, body) {
    this.outbox.remove([...told.acknowledged, ...told.refused.map((event) => event.id)]);
    for (const refusal of told.refused) this.refuse(refusal, body.events.find((e) => e.id === refusal.id));
    const waiting = this.outbox.list();
    this.progress = { ...told.progress, done: Math.min(told.progress.total, told.progress.done + waiting.filter((e) => e.outcome !== "later").length) };
    for (const pair of told.pairs) {
      setLaterApart(pair);
      this.standard.hear(pair.guideline_version);
    }
    if (told.surplus?.length) this.saved.tell(this.words.surplus);
    this.strip.hearTraining(told.training ?? null);
    if (!body.whole || this.list.stepsAside(told)) this.keep(told, waiting);
    else if (body.want) this.list.take(told.pairs);
    if (this.whole) this.list.hear(told, body);
    this.explain(told, body);
    this.paintProgress();
    this.saved.paint();
    if (!this.current && !this.strip.asked && !this.whole) this.goAhead(told, body);
  }

  // Puts what was handed out into the queue, but what is here, pressed, or in another tab already.
  keep(told, waiting) {
    const taken = new Set([...waiting, this.current, ...this.held()].filter(Boolean).map((one) => one.pair));
    const others = new Set(this.exchange.inOtherTabs.values());
    for (const pair of told.pairs) if (!taken.has(pair.pair) && !others.has(pair.pair)) this.queue.push(pair);
    const gone = new Set(told.judged ?? []);
    this.drop((pair) => gone.has(pair.pair) && !pair.answer);
    const { current } = this;
    if (current && gone.has(current.pair) && !current.answer && !this.saved.elsewhere.has(current.pair)) this.saved.elsewhere.set(current.pair, "needless");
  }

  // What training says to an answer. An answer that is kept but not explained was none in training any more.
  explain(told, body) {
    for (const feedback of told.feedback ?? []) this.strip.hear(feedback, body.events.find((e) => e.id === feedback.id));
    const { asked } = this.strip;
    if (!this.strip.waiting || ![...told.acknowledged, ...told.refused.map((r) => r.id)].includes(asked.id)) return;
    this.strip.hide();
    this.next();
  }

  goAhead(told, body) {
    const others = new Set(this.exchange.inOtherTabs.values());
    if (this.queue.length) this.next();
    else if (told.pairs.some((pair) => others.has(pair.pair))) this.exchange.askTabs();
    else if (!this.outbox.list().length && body.want) this.finish(told.progress);
    else this.exchange.again = true;
  }

  refuse({ id, why, code }, event) {
    const pair = [...this.behind, this.current, ...this.queue, ...(this.list.rows ?? []).map((row) => row.pair)].find((one) => one && one.pair === event?.pair);
    if (pair) pair.answer = pair.before ?? null;
    const document = pair?.document.title || pair?.document.doc_id || event?.pair || id;
    this.saved.refuse({ why, code, document, note: event?.note?.trim() || "" });
  }

  finish({ answered, total }) {
    const words = total === 0 ? this.words.nothing : answered ? fill(this.words.finished, { n: this.number(answered) }) : this.words.nonenow;
    this.paintEmpty(words, true);
    this.exchange.later(30000, () => !this.current && this.exchange.flush());
  }

  number(n) { return n.toLocaleString(this.told.language); }
}
