// The document of the pair on the screen, in a scrolling region of its own: formatted or as its source, with the
// query's terms marked, a find box, and its metadata. What comes next is prepared ahead, in small steps, so that no
// document delays a key press. Texts are set as text; formatted documents come as safe HTML from /api/rendering.

const HANDED_CHARACTERS = 200000, KEPT = 12, WAIT_MS = 350, FIRST_WAIT_MS = 1500, FIND_MS = 120;

class DocumentView {
  constructor(host, { dataset, words }) {
    Object.assign(this, { host, dataset, words, made: new Map(), current: null, turn: 0, needle: "" });
    this.layOut();
  }

  // ---- what the panel calls -----------------------------------------------------------------------------

  prepare(pair) {
    try {
      const made = this.make(pair);
      if (made.asked) made.asked.then(() => this.work(made)); else this.work(made);
    } catch (error) { console.warn("a document could not be prepared", error); }
  }

  show(pair) {
    const before = this.current;
    if (before?.whole && before.pair.pair !== pair.pair) this.made.delete(before.pair.pair);
    const made = this.make(pair), turn = ++this.turn;
    this.current = made;
    this.closeFind();
    this.say("");
    const mode = this.modeOf(made);
    if (mode !== null) return this.place(made, mode);
    this.lay(made, make("div", "text"));  // what comes in an instant is waited for, and then nothing is swapped any more
    const settle = () => { if (turn === this.turn && !made.sheet) this.place(made, this.modeOf(made) ?? "source"); };
    made.asked.then(settle);
    setTimeout(settle, before ? WAIT_MS : FIRST_WAIT_MS);
  }

  find() {
    if (!this.current?.sheet) return;
    this.box.hidden = false;
    this.tools.hidden = true;
    this.input.value = this.needle;
    this.input.focus();
    this.input.select();
    if (this.needle) this.look(this.needle);
  }

  nextMatch(step) {
    const sheet = this.current?.sheet, kind = this.kind();
    const all = sheet?.list(kind) ?? [];
    if (!all.length) return;
    this.at = this.at === null ? (step > 0 ? sheet.firstInView(kind, this.region) : all.length - 1) : (this.at + step + all.length) % all.length;
    this.go(all[this.at], kind);
    this.paintTools();
    this.say(kind === "hits" ? this.foundText() : this.matchText());
  }

  scroll(step) { this.region.scrollBy({ top: step * this.region.clientHeight * 0.85 }); }

  focus() { this.region.focus({ preventScroll: true }); }

  forget(pairKey) { this.made.delete(pairKey); }

  // ---- making -------------------------------------------------------------------------------------------

  make(pair) {
    const there = this.made.get(pair.pair);
    if (there) {
      this.made.delete(pair.pair);  // the ones used last stand at the end
      this.made.set(pair.pair, there);
      return there;
    }
    for (const [key, old] of this.made) if (this.made.size >= KEPT && old !== this.current) this.made.delete(key);
    pair.terms ??= termsOf(pair.query.text);
    const { doc_id, text, media_type } = pair.document;
    const made = { pair, head: this.makeHead(pair), sheets: {}, rendered: null, asked: null, sheet: null, whole: false,
      cut: text !== null && pair.document.length > countCharacters(text) };
    this.made.set(pair.pair, made);
    if (text && (media_type !== "text/plain" || /\.(?!(?:txt|md|rst|html?|pdf|docx?)(?:#|$))\w{1,12}(?:#|$)/i.test(doc_id))) made.asked = this.ask(made);
    return made;
  }

  async ask(made) {
    try {
      const answer = await fetch(`/api/rendering?${this.whereabouts(made)}`, { credentials: "same-origin", signal: AbortSignal.timeout(10000) });
      const told = answer.ok ? await answer.json() : null;
      made.rendered = told && told.kind !== "text" ? told : false;
    } catch { made.rendered = false; }
    if (made === this.current) this.paintTools();
  }

  whereabouts(made) { return `dataset=${encodeURIComponent(this.dataset)}&pair=${encodeURIComponent(made.pair.pair)}`; }

  // "formatted", "source", "missing", or null while it is not known yet.
  modeOf(made) {
    const { text } = made.pair.document;
    if (text === null || text === "") return "missing";
    if (made.mode) return made.mode;
    if (!made.asked || made.rendered === false) return "source";
    if (made.rendered === null) return null;
    return this.prefers(made.rendered.kind) ? "formatted" : "source";
  }

  prefers(kind, formatted) {
    const key = `annotator/formatted/${kind}`;
    try {
      if (formatted !== undefined) localStorage.setItem(key, formatted ? "yes" : "no");
      return localStorage.getItem(key) !== "no";
    } catch { return formatted ?? true; }
  }

  work(made) {
    const mode = this.modeOf(made);
    if (mode === "missing" || mode === null || made.sheets[mode]) return;
    this.begin(made, mode);
    runQuietly(made.steps[mode], () => this.made.get(made.pair.pair) === made);
  }

  begin(made, mode) {
    const { text } = made.pair.document;
    const sheet = new Sheet(mode === "formatted" ? `text formatted ${made.rendered.kind}` : this.sourceName(made), made.pair.terms);
    made.sheets[mode] = sheet;
    made.steps = { ...made.steps, [mode]: mode === "formatted" ? sheet.takeHtml(made.rendered.html) : sheet.takeText(text) };
  }

  finish(made, mode) {
    if (!made.sheets[mode]) this.begin(made, mode);
    runAtOnce(made.steps[mode]);
    return made.sheets[mode];
  }

  makeHead({ document: { title, doc_id, url, metadata } }) {
    const heading = make("h2", "", title || doc_id);
    heading.dir = "auto";
    const id = make("div", "docid", doc_id);
    if (/^https?:\/\//i.test(url ?? "")) {
      const link = make("a", "", url);
      Object.assign(link, { href: url, target: "_blank", rel: "noopener noreferrer", title: this.words.doc_newtab });
      id.append(make("br"), link);
    }
    const note = make("p", "docnote");
    note.hidden = true;
    return [heading, id, ...this.makeTable(metadata ?? {}), note];
  }

  makeTable(metadata) {
    const rows = Object.entries(metadata).filter(([, text]) => text !== null && text !== "");
    if (!rows.length) return [];
    const table = make("table", "metadata");
    table.setAttribute("aria-label", this.words.doc_about);
    for (const [column, text] of rows) {
      const row = table.insertRow();
      const name = make("th", "", column);
      name.scope = "row";
      const cell = make("td", "", String(text));
      cell.dir = "auto";
      row.append(name, cell);
    }
    return [table];
  }

  // ---- showing ------------------------------------------------------------------------------------------

  lay(made, element, ...after) {
    this.at = null;
    this.best = null;
    this.region.replaceChildren(...made.head, element, ...after);
    this.region.scrollTop = 0;
    this.paintTools();
  }

  place(made, mode, { keep = null } = {}) {
    if (mode === "missing") return this.lay(made, make("div", "missing", made.pair.document.text === null ? this.words.doc_notext : this.words.doc_empty));
    const sheet = this.finish(made, mode);
    Object.assign(made, { mode, sheet });
    this.lay(made, sheet.element, ...(made.cut && !made.whole ? [this.makeWhole(made)] : []));
    this.paintNote(made);
    if (keep !== null) this.region.scrollTop = keep;
    else if (this.region.scrollHeight > 2 * this.region.clientHeight) this.openAtBest(sheet);
    sheet.paintNear(this.region);
    this.paintTools();
  }

  openAtBest(sheet) {
    this.best = sheet.findBest();
    const match = this.best === null ? null : sheet.list("terms")[this.best];
    if (match && match[1].at + match[1].terms[match[2]][0] > 600) this.toBest(match); else this.best = null;
  }

  toBest(match = this.current.sheet.list("terms")[this.best]) {
    this.at = this.best;
    this.go(match, "terms");
  }

  // Brings a match to the upper third of the view.
  go(match, kind) {
    const sheet = this.current.sheet;
    const element = sheet.reach(match, kind);
    const aim = () => {
      const by = element.getBoundingClientRect().top - this.region.getBoundingClientRect().top - this.region.clientHeight / 3;
      if (Math.abs(by) > 1) this.region.scrollTop += by;
    };
    aim();
    aim();
    const wide = element.closest("pre,table");
    if (wide) element.scrollIntoView({ block: "nearest", inline: "nearest" });
    this.here?.forEach((mark) => mark.classList.remove("here"));
    this.here = match[1].made[kind][match[2]] ?? [];
    for (const mark of this.here) mark.classList.add("here");
    sheet.paintNear(this.region);
  }

  paintNote(made) {
    const told = made.mode === "formatted" ? made.rendered : null;
    const note = made.head.at(-1);
    const said = told ? [told.blocked ? this.words.doc_blocked.replace("{n}", told.blocked.toLocaleString()) : "", told.cut ? this.words.doc_cut : ""] : [];
    note.textContent = said.filter(Boolean).join(" ");
    note.hidden = !note.textContent;
  }

  // ---- the whole document -------------------------------------------------------------------------------

  makeWhole(made) {
    const button = make("button", "whole", this.words.doc_whole.replace("{n}", made.pair.document.length.toLocaleString()));
    button.type = "button";
    button.onclick = () => this.showWhole(made, button);
    return button;
  }

  // The whole text, as its source. It comes piece by piece behind what is there already, and nothing moves.
  async showWhole(made, button) {
    button.disabled = true;
    button.textContent = this.words.doc_loading;
    const wanted = () => this.current === made;
    try {
      const answer = await fetch(`/api/text?${this.whereabouts(made)}`, { credentials: "same-origin" });
      if (!answer.ok) throw new Error(String(answer.status));
      const sheet = new Sheet(this.sourceName(made), made.pair.terms);
      let painted = 0;
      for await (const text of linesOf(answer.body)) {
        if (!wanted()) return;
        if (made.whole) await runQuietly(sheet.takeText(text), wanted);
        else {
          runAtOnce(sheet.takeText(text));
          made.whole = true;
          made.sheets.source = sheet;
          made.steps = { ...made.steps, source: [].values() };
          this.place(made, "source", { keep: made.mode === "source" ? this.region.scrollTop : 0 });
          this.focus();
        }
        if (performance.now() - painted > 300) { this.paintTools(); painted = performance.now(); }
      }
      if (wanted()) this.paintTools();
      if (this.needle && !this.box.hidden && wanted()) this.look(this.needle);
    } catch {
      made.whole = false;
      if (!wanted()) return;
      button.disabled = false;
      button.textContent = this.words.doc_wholefailed;
      if (!button.isConnected) this.region.append(button);
    }
  }

  sourceName(made) { return made.asked && made.pair.document.media_type !== "text/markdown" ? "text source" : "text"; }

  // ---- tools --------------------------------------------------------------------------------------------

  layOut() {
    const { words } = this;
    const button = (name, text, key, does) => {
      const made = make("button", name, text);
      made.type = "button";
      if (key) made.setAttribute("aria-keyshortcuts", key);
      made.onclick = does;
      return made;
    };
    const sign = (name, text, label, key, does) => {
      const made = button(name, text, key, does);
      made.setAttribute("aria-label", label);
      made.title = key ? `${label} (${key})` : label;
      return made;
    };
    this.count = make("span", "count");
    this.starter = button("quiet", words.doc_start, "", () => this.toggleStart());
    this.source = button("quiet", words.doc_source, "", () => this.toggleSource());
    this.steps = [sign("step", "↑", words.doc_previous, "[", () => this.nextMatch(-1)), sign("step", "↓", words.doc_next, "]", () => this.nextMatch(1))];
    this.finder = button("quiet", words.doc_find, "/", () => this.find());
    this.finder.append(make("kbd", "", "/"));
    this.tools = make("div", "doctools");
    this.tools.setAttribute("role", "group");
    this.tools.setAttribute("aria-label", words.doc_tools);
    this.tools.append(this.count, ...this.steps, this.starter, make("span", "gap"), this.source, this.finder);
    this.layOutFind(sign);
    this.region = make("div", "document");
    this.region.tabIndex = 0;
    this.region.setAttribute("role", "region");
    this.region.setAttribute("aria-label", words.doc_label);
    this.region.addEventListener("scroll", () => this.scrolled(), { passive: true });
    this.live = make("div", "unseen");
    this.live.setAttribute("aria-live", "polite");
    this.host.replaceChildren(this.tools, this.box, this.region, this.live);
  }

  layOutFind(sign) {
    const { words } = this;
    this.input = make("input");
    Object.assign(this.input, { type: "search", placeholder: words.doc_findlabel, autocomplete: "off", spellcheck: false, dir: "auto" });
    this.input.setAttribute("aria-label", words.doc_findlabel);
    this.input.addEventListener("input", () => { clearTimeout(this.typing); this.typing = setTimeout(() => this.look(this.input.value), FIND_MS); });
    this.input.addEventListener("keydown", (e) => this.findKey(e));
    this.foundCount = make("span", "count");
    this.box = make("div", "doctools findbox");
    this.box.setAttribute("role", "search");
    this.box.hidden = true;
    this.box.append(this.input, this.foundCount,
      sign("step", "↑", words.doc_previous, "Shift+Enter", () => this.nextMatch(-1)), sign("step", "↓", words.doc_next, "Enter", () => this.nextMatch(1)),
      sign("step", "✕", words.doc_close, "Escape", () => this.leaveFind()));
  }

  findKey(e) {
    if (e.isComposing || e.keyCode === 229) return;
    if (e.key === "Escape" || (e.key === "Enter" && !this.input.value.trim())) { e.preventDefault(); e.stopPropagation(); return this.leaveFind(); }
    if (e.key !== "Enter") return;
    e.preventDefault();
    if (this.input.value !== this.needle) { clearTimeout(this.typing); this.look(this.input.value); } else this.nextMatch(e.shiftKey ? -1 : 1);
  }

  leaveFind() { this.closeFind(); this.focus(); }

  closeFind() {
    clearTimeout(this.typing);
    if (this.box.hidden) return;
    this.box.hidden = true;
    this.tools.hidden = false;
    const sheet = this.current?.sheet;
    for (const made of this.made.values()) for (const one of Object.values(made.sheets)) if (one !== sheet && one.needle) runAtOnce(one.look(""));
    if (sheet) { runAtOnce(sheet.look("")); sheet.paintNear(this.region); }
    this.at = null;
    this.say("");
    this.paintTools();
  }

  // Looks from where the reader is; the first place found is brought into view.
  async look(needle) {
    this.needle = needle;
    this.at = null;
    const sheet = this.current?.sheet, turn = this.turn;
    if (!sheet) return;
    const mine = () => turn === this.turn && sheet === this.current.sheet && needle === this.needle && !this.box.hidden;
    this.foundCount.textContent = "";
    if (!(await runQuietly(sheet.look(needle), mine)) || !mine()) return;
    sheet.paintNear(this.region);
    if (sheet.found) this.nextMatch(1);
    else this.say(this.foundText());
    this.paintTools();
  }

  toggleSource() {
    const { current: made } = this;
    if (!made?.rendered) return;
    const formatted = made.mode !== "formatted";
    this.prefers(made.rendered.kind, formatted);
    for (const other of this.made.values()) if (other !== made) other.mode = null;
    this.closeFind();
    const way = this.region.scrollTop / Math.max(1, this.region.scrollHeight - this.region.clientHeight);
    this.place(made, formatted ? "formatted" : "source", { keep: 0 });
    this.region.scrollTop = way * (this.region.scrollHeight - this.region.clientHeight);
    made.sheet.paintNear(this.region);
  }

  toggleStart() {
    if (this.region.scrollTop > 0) { this.region.scrollTop = 0; this.at = null; } else this.toBest();
    this.paintTools();
    this.focus();
  }

  scrolled() {
    if (this.painting) return;
    this.painting = requestAnimationFrame(() => {
      this.painting = null;
      this.current?.sheet?.paintNear(this.region);
      this.paintTools();
    });
  }

  kind() { return this.box.hidden || !this.needle ? "terms" : "hits"; }

  matchText() {
    const n = this.current?.sheet?.matches ?? 0;
    const text = this.at === null || this.kind() !== "terms" ? this.words.doc_matches : this.words.doc_match_at.replace("{at}", (this.at + 1).toLocaleString());
    return n ? text.replace("{n}", n.toLocaleString()) : "";
  }

  foundText() {
    const { needle, found } = this.current?.sheet ?? {};
    if (!needle?.trim()) return "";
    const part = this.current.cut && !this.current.whole ? ` ${this.words.doc_foundpart}` : "";
    if (!found) return this.words.doc_foundnone + part;
    const text = this.at === null ? this.words.doc_found : this.words.doc_found_at.replace("{at}", (this.at + 1).toLocaleString());
    return text.replace("{n}", found.toLocaleString()) + part;
  }

  paintTools() {
    const made = this.current, sheet = made?.sheet;
    this.count.textContent = this.matchText();
    this.foundCount.textContent = this.box.hidden ? "" : this.foundText();
    for (const step of this.steps) step.hidden = !sheet?.matches;
    this.starter.hidden = this.best === null || this.best === undefined;
    this.starter.textContent = this.region.scrollTop > 0 ? this.words.doc_start : this.words.doc_best;
    this.source.style.visibility = made?.rendered && sheet ? "visible" : "hidden";
    this.source.setAttribute("aria-pressed", String(made?.mode === "source"));
    this.finder.style.visibility = sheet ? "visible" : "hidden";
  }

  say(text) { this.live.textContent = text; }
}

function countCharacters(text) { return text.length < HANDED_CHARACTERS ? text.length : [...text].length; }

// A stream's text as it comes, cut at line ends; the first piece is a long one.
async function* linesOf(stream) {
  const reader = stream.getReader(), decoder = new TextDecoder();
  let rest = "", least = HANDED_CHARACTERS;
  for (;;) {
    const { done, value } = await reader.read();
    rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
    if (done) { if (rest || least) yield rest; return; }
    const end = rest.lastIndexOf("\n") + 1;
    if (rest.length < least || !end) continue;
    yield rest.slice(0, end);
    rest = rest.slice(end);
    least = 0;
  }
}
