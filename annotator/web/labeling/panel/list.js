// Whole-query mode: all documents of a query as a list, for those who judge by comparison. The focused row is the pair on
// the screen: its document stands beside the list, a press binds to it and goes on to the next row that is not done. What
// is put off waits at the end until the rest is done. In training the list steps aside, since its pairs are of many queries.
// Nothing here stores or sends: answers go through the panel, its outbox and its exchange, as in any other mode.

const SNIPPET_LENGTH = 160, SNIPPET_OF = 6000, REMEMBERED_QUERIES = 5, MOST_OF_A_QUERY = 200, MODE_KEY = "annotator/whole";
const FINAL = ["not_in_pool", "settled", "disclosed", "not_yours"];  // refusals that hold for every further answer to the pair

class ListView {
  constructor(host, panel) {
    Object.assign(this, { host, panel, words: panel.words, rows: [], query: null, past: [], aside: false });
    this.head = make("div", "listhead");
    this.count = make("span", "listcount");
    const hint = make("span", "listhint", this.words.list_hint);
    this.box = make("div", "rows");
    this.box.setAttribute("role", "listbox");
    this.box.setAttribute("aria-label", this.words.list_label);
    this.head.append(this.count, hint);
    host.append(this.head, this.box);
    this.box.addEventListener("click", (e) => this.click(e));
    if (remembersList() && !panel.told.pair) queueMicrotask(() => panel.whole || panel.ended || panel.toggleList());
  }

  // ---- what the panel calls -----------------------------------------------------------------------------

  open() {
    rememberList(true);
    Object.assign(this, { rows: [], query: null, past: [], aside: false, secondRound: false });
    this.panel.queue = [];
    this.panel.next = () => this.next();
    this.panel.back = () => this.back();
    this.panel.paintEmpty(this.words.loading);
    this.ask();
  }

  close() {
    rememberList(false);
    this.leave();
  }

  leave() {
    delete this.panel.next;
    delete this.panel.back;
    this.rows = [];
    this.query = null;
    this.box.replaceChildren();
  }

  // Training comes as single pairs; the first other pair brings the list back (Panel.next).
  stepsAside({ pairs }) {
    if (this.aside || !this.panel.whole || this.rows.length || !pairs[0]?.training) return false;
    this.leave();
    this.aside = true;
    this.panel.showList(false);
    this.panel.saved.tell(this.words.list_training);
    return true;
  }

  resume() {
    this.panel.showList(true);
    this.open();
  }

  // The rows that still want an answer: the server keeps them for this annotator.
  have() { return this.rows.filter((row) => !isDone(row)).map((row) => row.pair.pair).slice(0, 200); }

  // The pairs of one query. What was pressed here and is on its way counts as answered.
  take(pairs) {
    if (!this.panel.whole) return;
    const found = pairs.filter((pair) => !this.query || pair.query.query_id === this.query);
    const known = new Set(this.rows.map((row) => row.pair.pair));
    const waiting = new Map(this.panel.outbox.list().map((event) => [event.pair, event]));
    for (const pair of found.filter((pair) => !known.has(pair.pair))) {
      const event = waiting.get(pair.pair);
      if (event?.outcome === "later") pair.putOff = true;
      else if (event) pair.answer ??= { outcome: event.outcome, grade: event.grade, note: event.note, reason: event.reason ?? null };
      this.rows.push(this.makeRow(pair));
    }
    if (!this.rows.some((row) => !isDone(row)) && !this.query) { this.rows = []; return; }
    this.query ??= this.rows[0].pair.query.query_id;
    this.putLaterLast();
    this.paint();
    this.makeSnippets();
    if (!this.current) this.next();
  }

  // What the server has said to what was pressed: a refused answer is taken back, and what needs nothing more is closed.
  hear(told, body) {
    const lost = told.refused.filter(({ code }) => FINAL.includes(code)).map(({ id }) => body.events.find((event) => event.id === id)?.pair);
    const gone = new Set([...(told.judged ?? []), ...lost]);
    const closing = this.rows.filter((row) => gone.has(row.pair.pair) && !row.pair.answer && !row.closed);
    for (const row of closing) row.closed = true;
    if (closing.includes(this.current) && !lost.length) this.panel.saved.elsewhere.set(this.current.pair.pair, "needless");
    if (closing.length || told.refused.length) this.paint();
  }

  // Keys that are the list's own; true when it used one. Other keys are the panel's, also while the focus is in the list.
  key(e) {
    if (!this.rows.length || this.panel.root.querySelector("dialog[open]") || e.ctrlKey || e.altKey || e.metaKey || e.isComposing || e.keyCode === 229) return false;
    const target = e.composedPath()[0];
    const inside = target instanceof Element && this.box.contains(target);
    if (!inside && target instanceof Element && (target.isContentEditable || target.closest(TYPING))) return false;
    const step = this.stepOf(e, inside);
    if (step !== null) { this.move(step); return true; }
    if (!inside || e.repeat) return false;
    const act = gradeOf(e) ?? letterOf(e);
    if (act === null || act === "goon") return false;
    this.panel.act(act);
    return true;
  }

  next() {
    const { current } = this, held = this.isHeld();
    const after = this.rows.indexOf(current);
    const order = [...this.rows.slice(after + 1), ...this.rows.slice(0, after + 1)];
    if (current && !isDone(current)) this.putOff(current);
    const row = order.find((one) => !isDone(one) && !one.putOff) ?? this.beginSecondRound();
    if (row) this.show(row, held);
    else this.leaveQuery();
  }

  putOff(row) {
    row.putOff = true;
    this.putLaterLast();
    this.paint();
  }

  // The rest is done: what was put off has its turn, once. Put off again, it waits for another visit to the query.
  beginSecondRound() {
    const left = this.rows.filter((row) => !isDone(row));
    if (this.secondRound || !left.length) return null;
    this.secondRound = true;
    for (const row of left) row.putOff = false;
    return left[0];
  }

  putLaterLast() {
    const waits = (row) => row.putOff && !isDone(row);
    this.rows = [...this.rows.filter((row) => !waits(row)), ...this.rows.filter(waits)];
    this.rows.forEach((row, place) => { if (this.box.children[place] !== row.element) this.box.insertBefore(row.element, this.box.children[place] ?? null); });
  }

  // Back to the row that was answered last; from the first row of a query to the query before.
  back() {
    const answered = this.rows.filter((row) => row.answeredAt && row !== this.current).sort((a, b) => a.answeredAt - b.answeredAt);
    if (!answered.length && this.past.length) return this.bringBack(this.past.pop());
    if (answered.length) this.show(answered.at(-1));
  }

  propose(pair) { if (pair) new ProposeDialog(this.panel).open(pair); }

  askQuestion(pair) { if (pair) new AskDialog(this.panel).open(pair); }

  // ---- going from row to row ----------------------------------------------------------------------------

  get current() { return this.rows.find((row) => row.pair === this.panel.current) ?? null; }

  stepOf(e, inside) {
    if (e.shiftKey) return null;
    const letter = { down: 1, up: -1 }[letterOf(e)];
    if (letter) return letter;
    return inside ? { ArrowDown: 1, ArrowUp: -1, Home: -Infinity, End: Infinity }[e.key] ?? null : null;
  }

  move(step) {
    const to = Math.max(0, Math.min(this.rows.length - 1, this.rows.indexOf(this.current) + step));
    if (this.rows[to] !== this.current) this.show(this.rows[to]);
  }

  click(e) {
    const row = this.rows.find((one) => one.element === e.target.closest("[role=option]"));
    if (!row) return;
    if (row !== this.current) this.show(row);
    row.element.focus({ preventScroll: true });
  }

  isHeld() { return this.box.contains(this.panel.root.getRootNode().activeElement) || this.panel.at.work.hidden; }

  // The row becomes the pair on the screen. The focus goes along only when it was in the list already.
  show(row, held = this.isHeld()) {
    const before = this.current;
    this.panel.show(row.pair);
    const said = before && this.settle(before) ? this.stateOf(before) : "";
    for (const one of this.rows) this.paintRow(one);
    this.paintCount();
    if (held) row.element.focus({ preventScroll: true });
    row.element.scrollIntoView({ block: "nearest" });
    this.panel.at.live.textContent = held ? said : `${said} ${this.positionOf(row)} ${nameOf(row.pair)}. ${this.stateOf(row)}`;
    (window.requestIdleCallback ?? setTimeout)(() => { for (const one of this.following(row, 2)) this.panel.view.prepare(one.pair); });
  }

  // A row that is left; true when it was answered while it was on the screen.
  settle(row) {
    if (!isDone(row) || row.seen === row.pair.answer) return false;
    row.seen = row.pair.answer;
    row.answeredAt = ++ListView.presses;
    row.putOff = false;
    return true;
  }

  following(row, most) {
    return this.rows.slice(this.rows.indexOf(row) + 1).filter((one) => !isDone(one)).slice(0, most);
  }

  leaveQuery() {
    for (const row of this.rows) this.settle(row);
    if (this.rows.length) this.past = [...this.past, this.rows].slice(-REMEMBERED_QUERIES);
    const done = this.rows.filter(isDone).length;
    Object.assign(this, { rows: [], query: null, secondRound: false });
    this.box.replaceChildren();
    this.panel.paintEmpty(this.words.loading);
    this.panel.say(fill(this.words.list_alldone, { n: done }));
    this.ask();
  }

  bringBack(rows) {
    Object.assign(this, { rows, query: rows[0].pair.query.query_id, secondRound: false });
    this.box.replaceChildren(...rows.map((row) => row.element));
    this.paint();
    this.show([...rows].sort((a, b) => (b.answeredAt ?? 0) - (a.answeredAt ?? 0))[0]);
  }

  // The next query. When nothing came, nothing is left (or others hold it).
  async ask() {
    await this.panel.request({ whole: true, have: [], want: MOST_OF_A_QUERY });
    if (this.panel.whole && !this.panel.ended && !this.rows.length) this.panel.finish(this.panel.progress);
  }

  // ---- drawing --------------------------------------------------------------------------------------------

  makeRow(pair) {
    const element = make("div", "row");
    element.setAttribute("role", "option");
    const title = make("span", "rowtitle", pair.document.title || pair.document.doc_id);
    const id = make("span", "rowid", pair.document.title ? pair.document.doc_id : "");
    const snippet = make("span", "rowsnippet");
    const mark = make("span", "rowmark");
    const state = make("span", "unseen");
    mark.setAttribute("aria-hidden", "true");
    for (const part of [title, snippet]) part.dir = "auto";
    element.append(mark, title, state, id, snippet);
    return { pair, element, mark, state, snippet, seen: pair.answer, answeredAt: pair.answer ? ++ListView.presses : 0, putOff: pair.putOff, closed: false };
  }

  paint() {
    this.rows.forEach((row, place) => {
      row.element.setAttribute("aria-posinset", String(place + 1));
      row.element.setAttribute("aria-setsize", String(this.rows.length));
      this.paintRow(row);
    });
    this.paintCount();
  }

  paintRow(row) {
    const current = row === this.current, later = row.putOff && !isDone(row);
    row.element.setAttribute("aria-selected", String(current));
    row.element.tabIndex = current ? 0 : -1;
    row.element.classList.toggle("done", isDone(row));
    row.element.classList.toggle("later", later);
    row.mark.textContent = this.signOf(row);
    row.state.className = later || row.closed ? "rowstate" : "unseen";
    row.state.textContent = ` ${this.stateOf(row)} `;
  }

  paintCount() {
    const done = this.rows.filter(isDone).length;
    this.count.textContent = fill(this.words.list_count, { done: this.panel.number(done), total: this.panel.number(this.rows.length) });
  }

  signOf({ pair: { answer }, putOff, closed }) {
    if (closed) return "×";
    if (answer) return answer.outcome === "graded" ? String(answer.grade) : "–";
    return putOff ? "…" : "";
  }

  stateOf(row) {
    const { answer } = row.pair;
    if (row.closed) return this.words.list_closed;
    if (!isDone(row)) return row.putOff ? this.words.list_putoff : this.words.list_open;
    return answer.outcome === "graded" ? fill(this.words.graded, { grade: answer.grade }) : this.words.said_unrateable;
  }

  positionOf(row) {
    return fill(this.words.list_position, { at: this.rows.indexOf(row) + 1, of: this.rows.length });
  }

  // Snippets are made a few at a time: a list of two hundred must not delay the first key press.
  makeSnippets() {
    const waiting = this.rows.filter((row) => row.snippet.textContent === "" && row.pair.document.text);
    const some = (n) => { for (const row of waiting.splice(0, n)) row.snippet.replaceChildren(...cutSnippet(row.pair)); };
    const goOn = () => { if (!waiting.length) return; some(4); (window.requestIdleCallback ?? setTimeout)(goOn); };
    some(8);
    goOn();
  }
}

ListView.presses = 0;

function isDone({ pair, closed }) { return closed || (pair.answer !== null && pair.answer !== undefined && !pair.outdated); }

function nameOf(pair) { return pair.document.title || pair.document.doc_id; }

function remembersList() { try { return localStorage.getItem(MODE_KEY) === "yes"; } catch { return false; } }

function rememberList(whole) { try { localStorage.setItem(MODE_KEY, whole ? "yes" : "no"); } catch { /* the mode holds for this visit */ } }

// The part of the document where most of the query's terms stand close together, with them marked.
function cutSnippet(pair) {
  pair.terms ??= termsOf(pair.query.text);
  const text = pair.document.text.slice(0, SNIPPET_OF);
  const start = bestPlace(text, findTerms(text, pair.terms));
  const shown = text.slice(start, start + SNIPPET_LENGTH).replace(/\s+/g, " ");
  return [start ? "… " : "", ...markedParts(shown, pair.terms), start + SNIPPET_LENGTH < pair.document.text.length ? " …" : ""];
}

function bestPlace(text, spans) {
  let best = 0, most = 0, first = 0;
  const different = (from, to) => new Set(spans.slice(from, to + 1).map(([start, end]) => text.slice(start, end).toLowerCase())).size;
  for (let last = 0; last < Math.min(spans.length, 200); last++) {
    while (spans[last][1] - spans[first][0] > SNIPPET_LENGTH - 30) first++;
    const found = first <= last ? different(first, last) : 0;
    if (found > most) { most = found; best = Math.max(0, spans[first][0] - 30); }
  }
  return best;
}

function markedParts(text, terms) {
  const parts = [];
  let at = 0;
  for (const [start, end] of findTerms(text, terms)) {
    if (start < at) continue;
    parts.push(text.slice(at, start), make("mark", "", text.slice(start, end)));
    at = end;
  }
  return [...parts, text.slice(at)];
}
