// The decision panel. One dispute is on the screen, the next ones are here already; a decision is bound to the pair and
// to the state of it that were seen when it was pressed, kept in this browser, and sent in the background.

const DECIDING_KEYS = { u: "unrateable", x: "withdrawn", n: "rationale", g: "guideline", l: "later", z: "back", Backspace: "back", a: "assign", o: "names",
  d: "discuss", t: "trail", "/": "find", j: "down", k: "up", "[": "previous", "]": "following", "?": "help", Enter: "decide", ...causesByKey() };
const NAMED = [["assign", "a"], ["discuss", "d"], ["names", "o"], ["trail", "t"], ["help", "?"], ["back", "z"], ["later", "l"], ["unrateable", "u"], ["withdrawn", "x"]];
const LONG_TEXT = 280, KNOWN = 30;
const panels = new WeakMap();

export default function (component) {
  const root = component.parentElement.querySelector(".panel");
  const told = JSON.parse(component.data.told);
  const known = panels.get(root);
  if (known && known.same(told)) return () => known.stop();
  known?.stop();
  const panel = new Deciding(root, told);
  panels.set(root, panel);
  panel.start();
  return () => panel.stop();
}

class Deciding {
  constructor(root, told) {
    Object.assign(this, { root, told, words: told.words, queue: [], returned: [], current: null, left: null, done: 0, ended: false, known: new Map(), passed: new Map() });
    this.at = Object.fromEntries([...root.querySelectorAll("[data-at]")].map((e) => [e.dataset.at, e]));
    this.unsent = new Unsent(told.username);
    this.typed = new Typed(told.username, told.dataset);
    this.behind = new Behind(told.username, told.dataset);
    this.time = new ActiveTime(told.idle_seconds);
    this.view = new DocumentView(this.at.viewer, { dataset: told.dataset, words: told.words });
    this.saved = new SavedLine(this);
    this.dialogs = new CaseWindows(this);
    this.standard = new Standard(this);
    this.drawing = new Drawing(this);
    this.form = new DecisionForm(this);
    this.exchange = new CaseExchange(this);
  }

  same(told) {
    return !this.ended && ["username", "dataset", "language"].every((name) => told[name] === this.told[name]) && JSON.stringify(told.filter) === JSON.stringify(this.told.filter);
  }

  start() {
    this.stopListening = new AbortController();
    const on = (target, name, does, options = {}) => target.addEventListener(name, does, { signal: this.stopListening.signal, ...options });
    on(document, "keydown", (e) => this.key(e));
    on(window, "resize", () => this.fit());
    on(this.root, "click", (e) => this.click(e));
    for (const part of [this.time, this.exchange]) part.listen(on);
    this.layOut();
    this.fit();
    this.paintEmpty(this.words.loading);
    this.ticking = setInterval(() => this.saved.paint(), 500);
    this.exchange.fill({ pair: this.told.pair });
    if (this.unsent.list().length) this.exchange.send();
    for (const pair of this.typed.listRefused()) this.bringBack(pair, null);
  }

  stop() {
    if (this.ended) return;
    this.ended = true;
    this.stopListening.abort();
    clearInterval(this.ticking);
    this.exchange.close();
  }

  // ---- pressing -----------------------------------------------------------------------------------------

  key(e) {
    if (this.root.querySelector("dialog[open]")) return;
    const act = actOf(e, DECIDING_KEYS);
    if (act === null || act === "goon") return;
    e.preventDefault();
    this.act(act, true);
  }

  click(e) {
    const button = e.target.closest?.("[data-act]");
    if (!button || button.disabled) return;
    const grade = /^[0-3]$/.test(button.dataset.act);
    this.act(grade ? Number(button.dataset.act) : button.dataset.act, false);
  }

  act(what, byKey) {
    const ways = { help: () => this.standard.openSheet(), back: () => this.back(), lookatit: () => this.lookAtReturned(), close_remark: () => this.saved.closeRemark() };
    if (what in ways) return ways[what]();
    if (!this.current) return;
    const here = {
      find: () => this.view.find(), down: () => this.view.scroll(1), up: () => this.view.scroll(-1), previous: () => this.view.nextMatch(-1), following: () => this.view.nextMatch(1),
      assign: () => this.dialogs.assign(), names: () => this.dialogs.showNames(), trail: () => this.dialogs.showTrail(), discuss: () => this.dialogs.discuss(),
      rationale: () => this.toRationale(), guideline: () => this.form.setGuideline(), later: () => this.later(), decide: () => this.form.decide(),
      withdrawn: () => isWithdrawable(this.current) && this.form.choose("withdrawn", byKey),
    };
    if (what in here) here[what]();
    else if (String(what).startsWith("cause_")) this.form.setCause(what.slice(6));
    else this.form.choose(what, byKey);
  }

  toRationale() {
    this.at.decision.toggleAttribute("data-words", true);
    this.at.rationale.focus();
  }

  // Keeps a decision in this browser and shows the next dispute; it is sent behind that.
  decide(answer) {
    const found = this.current;
    const entry = {
      id: newId(), dataset: this.told.dataset, lead: this.told.username, tab: this.exchange.tab, pair: found.pair, seen: found.seen, ...answer,
      seconds: this.time.read(), filter: this.told.filter, shown: summary(found),
    };
    try { this.unsent.put(entry); }
    catch { this.saved.full = true; return this.saved.paint(); }
    this.saved.full = false;
    this.saved.closeRemark();
    this.typed.write(found.pair, null);
    const made = { revision: entry.shown.revision + 1, outcome: typeof answer.decided === "number" ? "graded" : answer.decided, grade: typeof answer.decided === "number" ? answer.decided : null };
    this.remember({ ...found, stale: true, decisions: [...found.decisions, { ...made, ...answer, decided_at: null, by: this.told.username, yours: true }] });
    this.passed.set(found.pair, performance.now());
    if (isOpen(found)) { this.left = Math.max(0, (this.left ?? 1) - 1); this.done++; }
    this.say(fill(this.words.saiddecided, { grade: this.drawing.nameOf(made) }));
    this.next();
    this.exchange.send();
  }

  remember(found) {
    this.behind.push(found.pair);
    this.known.set(found.pair, found);
    if (this.known.size > KNOWN) this.known.delete(this.known.keys().next().value);
  }

  // Without deciding: the dispute stays as it is. `passed`: it is not to come again at once.
  goOn({ passed = true } = {}) {
    if (passed && this.current) this.passed.set(this.current.pair, performance.now());
    this.next();
    this.exchange.fill();
  }

  async later() {
    const found = this.current;
    this.passed.set(found.pair, performance.now());
    if (!isOpen(found)) this.typed.acceptRefusal(found.pair);
    this.say(this.words.saidlater);
    this.next();
    if (isOpen(found) && !found.barred) await postJson("/api/cases/later", { dataset: this.told.dataset, pair: found.pair });
    this.passed.set(found.pair, performance.now());
    this.exchange.fill();
  }

  next() {
    if (this.current) this.view.forget(this.current.pair);
    this.current = null;
    const found = this.returned.shift() ?? this.queue.shift();
    if (found) this.show(found);
    else this.paintEmpty(this.words.loading);
  }

  // ---- back, and what came back -----------------------------------------------------------------------------

  back() {
    const pair = this.behind.pop();
    if (!pair) return this.say(this.words.noback);
    if (this.current) this.queue.unshift(this.current);
    const kept = this.known.get(pair);
    if (kept) this.show(kept); else { this.current = null; this.paintEmpty(this.words.loading); }
    if (!this.unsent.has(pair)) this.refresh(pair);
  }

  // The pair as it is now, with what is chosen and typed left alone.
  async refresh(pair) {
    const found = await this.exchange.look(pair);
    if (!found || this.ended || (this.current && this.current.pair !== pair)) return;
    const again = Boolean(this.current);
    this.known.set(pair, found);
    if (!again || this.current.document.sha256 !== found.document.sha256) { this.view.forget(pair); return this.show(found); }
    this.current = found;
    this.drawing.show(found);
    this.form.show(found, true);
    if (this.isFocusLost()) this.view.focus();
    this.paintCount();
  }

  // A refused decision: what was chosen and typed is kept, and the pair comes again as it is now.
  refuse(entry, why, found) {
    const { decided, rationale, cause, in_guideline, shown, pair, dataset } = entry;
    const typed = dataset === this.told.dataset ? this.typed : new Typed(this.told.username, dataset);
    typed.write(pair, { decided, rationale, cause, in_guideline, refused: why, before: shown });
    this.unsent.remove(entry);
    this.done = Math.max(0, this.done - 1);
    if (dataset === this.told.dataset) this.bringBack(pair, found);
  }

  async bringBack(pair, found) {
    const now = found ?? (await this.exchange.look(pair));
    if (!now || this.ended) return now || this.saved.tell(fill(this.words.notback, { what: this.typed.read(pair)?.rationale ?? "" }));
    this.known.delete(pair);
    this.queue = this.queue.filter((one) => one.pair !== pair);
    if (this.current?.pair === pair) return this.show(now);
    this.returned = [...this.returned.filter((one) => one.pair !== pair), now];
    if (!this.current) this.next();
    this.saved.paint();
  }

  lookAtReturned() {
    if (!this.returned.length) return;
    if (this.current) this.queue.unshift(this.current);
    this.current = null;
    this.next();
  }

  // ---- what the server says -------------------------------------------------------------------------------

  have() { return [this.current, ...this.queue, ...this.returned].filter(Boolean).map((one) => one.pair); }

  // The decision is in the database. `began`: when it was sent.
  stored(entry, told, began) {
    if (entry.dataset !== this.told.dataset) return;
    if (told) this.take(told, began);
    if (told?.proposed) this.saved.tell(this.words.proposed);
    if (this.current?.pair === entry.pair && this.current.stale) this.refresh(entry.pair);
    if (!this.current && !this.queue.length) this.exchange.fill();
  }

  take({ cases, left }, began) {
    const waiting = this.unsent.list().filter((entry) => entry.dataset === this.told.dataset).map((entry) => entry.pair);
    const here = new Set([...this.have(), ...waiting]);
    for (const found of cases) {
      if (here.has(found.pair) || (this.passed.get(found.pair) ?? -1) > began) continue;
      here.add(found.pair);
      this.standard.hear(found.guideline_version);
      if (found.pair === this.told.pair && !this.current) this.queue.unshift(found); else this.queue.push(found);
    }
    this.left = Math.max(0, left - waiting.length);
    if (!this.current && (this.queue.length || this.returned.length)) this.next();
    else this.prepare();
    this.paintCount();
  }

  finish() {
    this.paintEmpty(this.words.nothing, true);
    this.exchange.later(LOOK_AGAIN_MS, () => !this.current && this.exchange.fill());
  }

  async answer(number, text, button) {
    if (!text.value.trim() || button.disabled) return text.focus();
    button.disabled = true;
    const { status, told } = await postJson("/api/cases/answer", { dataset: this.told.dataset, question: number, answer: text.value });
    button.disabled = false;
    if (status !== 200) return this.form.say(told.error ?? this.words.failed, "warning");
    this.saved.tell(this.words.answersent);
    if (this.current) this.refresh(this.current.pair);
  }
}

function causesByKey() { return Object.fromEntries(Object.entries(CAUSE_KEYS).map(([cause, key]) => [key, `cause_${cause}`])); }
