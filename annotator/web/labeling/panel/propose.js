// Documents that the pool missed: search the dataset as one types, read a document, grade it, propose it for the query.
// A document that is in the pool already and open to the annotator is simply judged, through the outbox. What was chosen
// and typed is kept in this browser, with the id under which it is sent, until the server has it.

const TYPE_MS = 80, PREPARE_MS = 700, LINES_SHOWN = 400;

class ProposeDialog {
  constructor(panel) {
    Object.assign(this, { panel, words: panel.words, found: [], place: -1, turn: 0, reading: 0, shown: null });
  }

  open(pair = this.panel.current) {
    if (!pair || this.panel.root.querySelector("dialog[open]")) return;
    this.query = pair.query;
    this.terms = pair.terms ?? termsOf(pair.query.text);
    this.key = `annotator/proposal/${encodeURIComponent(this.panel.told.username)}/${encodeURIComponent(this.panel.told.dataset)}/${encodeURIComponent(pair.query.query_id)}`;
    this.draft = readDraft(this.key) ?? { typed: "", doc_id: null, grade: null, note: "", id: null };
    this.dialog = openDialog(this.panel, "proposing", this.words.propose_title, this.makeParts());
    this.dialog.addEventListener("keydown", (e) => this.press(e));
    this.dialog.addEventListener("close", () => { this.turn++; });
    this.input.value = this.draft.typed;
    this.input.focus();
    this.search();
    if (this.draft.doc_id) this.read(this.draft.doc_id);
  }

  // ---- parts ----------------------------------------------------------------------------------------------

  makeParts() {
    const about = make("p", "dialogabout", this.query.text);
    about.dir = "auto";
    const body = make("div", "proposalbody");
    body.append(this.makeSearch(), this.makeReading());
    return [about, body];
  }

  makeSearch() {
    this.input = make("input");
    Object.assign(this.input, { type: "text", enterKeyHint: "search", dir: "auto", maxLength: 500, autocomplete: "off", spellcheck: false, id: "proposesearch" });
    for (const [name, value] of [["role", "combobox"], ["aria-controls", "proposefound"], ["aria-expanded", "false"], ["aria-autocomplete", "list"]]) this.input.setAttribute(name, value);
    const label = make("label", "dialoglabel", this.words.propose_search);
    label.htmlFor = "proposesearch";
    this.hint = make("p", "dialoghint");
    this.hint.setAttribute("role", "status");
    this.box = make("div", "found");
    this.box.id = "proposefound";
    this.box.setAttribute("role", "listbox");
    this.box.setAttribute("aria-label", this.words.propose_found);
    this.input.addEventListener("input", () => { this.keep({ typed: this.input.value }); clearTimeout(this.typing); this.typing = setTimeout(() => this.search(), TYPE_MS); });
    this.box.addEventListener("click", (e) => {
      const at = [...this.box.children].indexOf(e.target.closest("[role=option]"));
      if (at >= 0) { this.point(at); this.choose(); }
    });
    const side = make("div", "proposalsearch");
    side.append(label, this.input, this.hint, this.box);
    return side;
  }

  makeReading() {
    this.side = make("div", "proposalreading");
    this.text = make("div", "proposaltext");
    this.text.hidden = true;
    this.text.tabIndex = 0;
    this.text.setAttribute("role", "region");
    this.text.setAttribute("aria-label", this.words.document);
    this.answer = make("div", "proposalanswer");
    this.answer.hidden = true;
    this.grades = make("div", "proposalgrades");
    this.grades.setAttribute("role", "group");
    this.grades.setAttribute("aria-label", this.words.propose_grade);
    this.grades.append(...this.panel.told.standard.grades.map(({ grade, name }) => {
      const button = makeButton("", name, String(grade));
      button.dataset.grade = grade;
      button.removeAttribute("data-act");
      button.addEventListener("click", () => this.grade(grade));
      return button;
    }));
    this.note = make("textarea");
    Object.assign(this.note, { rows: 2, maxLength: 10000, dir: "auto", id: "proposenote", value: this.draft.note });
    this.note.addEventListener("input", () => this.keep({ note: this.note.value }));
    const label = make("label", "dialoglabel", this.words.note);
    label.htmlFor = "proposenote";
    this.status = make("p", "dialogstatus");
    this.status.setAttribute("role", "status");
    this.status.textContent = this.words.propose_choose;
    this.send = makeButton("", this.words.propose_send, "⏎", "primary");
    this.send.removeAttribute("data-act");
    this.send.addEventListener("click", () => this.submit());
    this.answer.append(this.grades, label, this.note, this.send);
    this.side.append(this.text, this.answer, this.status);
    return this.side;
  }

  // ---- searching --------------------------------------------------------------------------------------------

  async search() {
    const turn = ++this.turn, typed = this.input.value.trim();
    let told;
    try { told = await ask("/api/search", { dataset: this.panel.told.dataset, q: typed, query: this.query.query_id }); }
    catch (error) {
      if (turn !== this.turn) return;
      this.hint.textContent = error.status === 403 ? this.words.propose_notyours : this.words.why_unreachable_once;
      if (!error.status) setTimeout(() => turn === this.turn && this.search(), 2000);
      return;
    }
    if (turn !== this.turn) return;
    if (told.preparing !== null) {
      this.hint.textContent = fill(this.words.propose_preparing, { n: Math.floor(100 * told.preparing) });
      setTimeout(() => turn === this.turn && this.search(), PREPARE_MS);
      return;
    }
    this.paintFound(told, typed);
  }

  paintFound({ documents, most_characters }, typed) {
    this.found = documents;
    this.place = -1;
    this.box.replaceChildren(...documents.map((found, at) => this.makeOption(found, at)));
    this.input.setAttribute("aria-expanded", String(documents.length > 0));
    this.input.removeAttribute("aria-activedescendant");
    const beginning = most_characters ? ` ${fill(this.words.propose_beginning, { n: this.panel.number(most_characters) })}` : "";
    this.hint.textContent = (typed.length < 2 ? this.words.propose_type : documents.length ? fill(this.words.propose_count, { n: documents.length }) : this.words.propose_none) + beginning;
    const again = this.shown && documents.find((found) => found.doc_id === this.shown.doc_id);
    if (again) this.paintAnswer(again);
  }

  makeOption(found, at) {
    const option = make("div", "row");
    option.id = `proposefound${at}`;
    option.setAttribute("role", "option");
    option.setAttribute("aria-selected", "false");
    const title = make("span", "rowtitle", found.title || found.doc_id), snippet = make("span", "rowsnippet");
    snippet.append(...markedParts(found.snippet, termsOf(this.input.value)));
    for (const part of [title, snippet]) part.dir = "auto";
    option.append(title, ...(found.state === "new" ? [] : [make("span", "rowstate", this.stateOf(found))]), make("span", "rowid", found.title ? found.doc_id : ""), snippet);
    return option;
  }

  stateOf(found) { return { "in pool": this.words.propose_inpool, "judged by you": this.words.propose_judged }[found.state] ?? ""; }

  point(at) {
    this.place = at;
    [...this.box.children].forEach((option, i) => option.setAttribute("aria-selected", String(i === at)));
    this.input.setAttribute("aria-activedescendant", `proposefound${at}`);
    this.box.children[at]?.scrollIntoView({ block: "nearest" });
  }

  // ---- reading and answering --------------------------------------------------------------------------------

  choose() {
    const found = this.found[this.place];
    if (!found) return;
    if (found.doc_id !== this.draft.doc_id) this.keep({ doc_id: found.doc_id, grade: null, id: null });
    this.read(found.doc_id, found);
  }

  async read(doc_id, found = null) {
    const asked = ++this.reading;
    let told;
    try { told = await ask("/api/document", { dataset: this.panel.told.dataset, doc_id }); }
    catch (error) {
      if (asked !== this.reading) return;
      this.status.textContent = error.status === 404 ? this.words.propose_gone : this.words.why_unreachable_once;
      return;
    }
    if (asked !== this.reading) return;
    this.shown = told;
    this.text.hidden = false;
    this.paintText();
    this.paintAnswer(found ?? this.found.find((one) => one.doc_id === doc_id) ?? { state: "new", pair: null });
    if (found) this.text.focus();
  }

  paintText() {
    const { title, doc_id, text, length } = this.shown;
    const heading = make("h3", "", title || doc_id);
    heading.dir = "auto";
    const parts = [heading, make("div", "docid", doc_id)];
    if (text === null) parts.push(make("p", "missing", this.words.doc_notext));
    else {
      const lines = text.split("\n");
      for (let at = 0; at < lines.length; at += LINES_SHOWN) {
        const block = make("div", "proposallines");
        block.dir = "auto";
        block.append(...markedParts(lines.slice(at, at + LINES_SHOWN).join("\n"), this.terms));
        parts.push(block);
      }
      if (length > text.length + 100) parts.push(make("p", "missing", fill(this.words.propose_cut, { n: this.panel.number(text.length) })));
    }
    this.text.replaceChildren(...parts);
    this.text.scrollTop = 0;
  }

  // What can be done with it: propose it, judge it, or nothing more.
  paintAnswer(found) {
    this.standing = found;
    const closed = found.state === "judged by you" || (found.state === "in pool" && !found.pair);
    this.answer.hidden = closed;
    this.status.textContent = closed ? (found.state === "in pool" ? this.words.propose_inpool_long : this.words.propose_judged_long) : found.pair ? this.words.propose_open_long : "";
    nameButton(this.send, found.pair ? this.words.propose_judge : this.words.propose_send, "⏎");
    this.paintGrade();
  }

  grade(grade) {
    this.keep({ grade, id: this.draft.grade === grade ? this.draft.id : null });
    this.paintGrade();
  }

  paintGrade() {
    for (const button of this.grades.children) button.setAttribute("aria-pressed", String(Number(button.dataset.grade) === this.draft.grade));
  }

  press(e) {
    if (e.ctrlKey || e.altKey || e.metaKey || e.isComposing || e.keyCode === 229) return;
    if (e.target === this.input) return this.pressInSearch(e);
    if (e.target === this.note || this.answer.hidden) return;
    const grade = e.repeat ? null : gradeOf(e);
    if (grade !== null) { e.preventDefault(); this.grade(grade); }
    else if (e.key === "/" && !e.repeat) { e.preventDefault(); this.input.focus(); this.input.select(); }
    else if (e.key === "Enter" && !e.repeat && !e.target.closest("button")) { e.preventDefault(); this.submit(); }
  }

  pressInSearch(e) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    if (step && this.found.length) { e.preventDefault(); this.point(Math.max(0, Math.min(this.found.length - 1, this.place + step))); }
    else if (e.key === "Enter" && !e.repeat) { e.preventDefault(); if (this.place < 0 && this.found.length) this.point(0); this.choose(); }
  }

  async submit() {
    if (!this.shown || this.answer.hidden || this.send.disabled) return;
    if (this.draft.grade === null) { this.status.textContent = this.words.propose_nograde; return; }
    if (this.standing.pair) return this.judge();
    this.keep({ id: this.draft.id ?? newId() });
    this.send.disabled = true;
    this.status.textContent = "";
    const failed = await post("/api/proposals", {
      dataset: this.panel.told.dataset, query_id: this.query.query_id, doc_id: this.shown.doc_id, id: this.draft.id, grade: this.draft.grade,
      note: this.note.value, document_sha256: this.shown.sha256, guideline_version: this.shown.guideline_version,
    });
    this.send.disabled = false;
    if (failed === null) return this.finish(this.words.propose_sent);
    this.status.textContent = sayFailure(this.words, failed, { 403: this.words.propose_notyours, 404: this.words.propose_gone, 409: this.words.propose_taken });
    if (failed === 409) this.search();
  }

  // In the pool already, and open: an ordinary answer, kept in the outbox before anything else.
  judge() {
    const pair = { pair: this.standing.pair, query: this.query, document: this.shown, answer: null };
    if (!this.panel.judgePair(pair, { outcome: "graded", grade: this.draft.grade, note: this.note.value })) { this.status.textContent = this.words.why_storage; return; }
    this.panel.drop((ahead) => ahead.pair === pair.pair);
    this.panel.request();
    this.finish(this.words.propose_judged_now);
  }

  finish(words) {
    writeDraft(this.key, null);
    this.dialog.close();
    this.panel.saved.tell(words);
  }

  keep(change) {
    Object.assign(this.draft, change);
    writeDraft(this.key, this.draft);
  }
}
