// What the panel draws: the pair that comes to the screen, the words on the buttons, how far the work is.

const BUTTONS = [["back", "z"], ["later", "l"], ["unrateable", "u"], ["propose", "p"], ["question", "q"], ["list", "w"], ["help", "?"], ["again", ""]];
const LONG_NARRATIVE = 280;

Object.assign(Panel.prototype, {
  show(pair) {
    this.current = pair;
    this.standard.catchUp();
    this.root.dataset.pairId = pair.pair;
    this.exchange.tellTabs(pair.pair);
    const lost = this.at.work.hidden;
    this.at.empty.hidden = true;
    this.at.work.hidden = false;
    this.paintQuery(pair.query);
    this.strip.show(pair);
    this.view.show(pair);
    this.at.note.value = this.drafts.read(pair.pair) || pair.answer?.note || pair.laterNote || "";
    this.strip.markGrades(pair.answer?.grade, null);
    this.root.querySelector("[data-act=unrateable]").setAttribute("aria-pressed", String(pair.answer?.outcome === "unrateable"));
    this.root.querySelector("[data-act=back]").disabled = !this.behind.length && !this.trail.list().length;
    if (lost || this.isFocusLost()) this.view.focus();
    this.time.begin();
    this.paintProgress();
    this.saved.paint();
    const title = pair.document.title || pair.document.doc_id;
    this.say([`${this.words.query}: ${pair.query.text}. ${this.words.document}: ${title}`, this.at.strip.hidden ? "" : this.at.strip.textContent].join(" "));
    (window.requestIdleCallback ?? setTimeout)(() => { for (const ahead of this.queue.slice(0, 2)) this.view.prepare(ahead); });
  },

  // Whether the focus was on something of the panel's that is gone or disabled now.
  isFocusLost() {
    const focused = this.root.getRootNode().activeElement;
    return focused ? focused.disabled || focused.closest("[hidden]") !== null : document.activeElement === document.body;
  },

  paintQuery(query) {
    if (this.at.query.textContent === query.text && this.narrative === query.narrative) return;
    this.narrative = query.narrative;
    this.at.query.textContent = query.text;
    const long = (query.narrative ?? "").length > LONG_NARRATIVE;
    this.at.narrativebox.hidden = !query.narrative;
    this.at.narrativebox.open = !long;
    this.at.narrativebox.toggleAttribute("data-short", !long);
    this.at.narrative.textContent = query.narrative ?? "";
    for (const said of [this.at.query, this.at.narrative]) sayLanguage(said, query.language);
  },

  layOut() {
    const { at, words } = this;
    at.heading.textContent = fill(words.heading, { dataset: this.told.title });
    at.querylabel.textContent = words.query;
    at.narrativelabel.textContent = words.narrative;
    at.grades.setAttribute("aria-label", words.grade);
    at.judging.setAttribute("aria-label", words.judging);
    at.reading.setAttribute("aria-label", words.reading);
    at.strip.setAttribute("aria-label", words.strip);
    at.progress.setAttribute("aria-label", words.progress);
    for (const [act, key] of BUTTONS) for (const button of this.root.querySelectorAll(`button[data-act=${act}]`)) nameButton(button, words[`do_${act}`], key);
    for (const [act, way] of [["propose", "propose"], ["question", "askQuestion"]]) this.root.querySelector(`[data-act=${act}]`).hidden = !this.list[way];
    this.root.querySelector("[data-act=list]").hidden = typeof ListView === "undefined";
    this.paintListButton();
    const key = make("kbd", "", "n");
    key.setAttribute("aria-hidden", "true");
    at.notelabel.replaceChildren(make("span", "", words.note), key);
    at.note.setAttribute("aria-keyshortcuts", "N");
    at.note.placeholder = matchMedia("(max-width: 820px)").matches ? words.note : words.notehint;  // there the label is not seen
  },

  paintListButton() {
    const button = this.root.querySelector("[data-act=list]");
    button.setAttribute("aria-pressed", String(this.whole || Boolean(this.list.aside)));
  },

  fit() {
    this.root.style.setProperty("--top", `${Math.max(0, this.root.getBoundingClientRect().top)}px`);
  },

  paintEmpty(text, again = false) {
    const held = this.at.work.contains(this.root.getRootNode().activeElement);
    this.current = null;
    this.root.dataset.pairId = "";
    this.at.work.hidden = true;
    if (!this.strip.asked) this.strip.hide();
    this.at.empty.hidden = false;
    this.at.emptytext.textContent = text;
    this.root.querySelector("[data-act=again]").hidden = !again;
    if (held) this.at.empty.focus();
    this.paintProgress();
    this.saved.paint();
  },

  paintProgress() {
    const { done, total } = this.progress ?? { done: 0, total: 0 };
    this.at.filled.style.width = total ? `${(100 * done) / total}%` : "0";
    this.at.progress.setAttribute("aria-valuemax", String(total));
    this.at.progress.setAttribute("aria-valuenow", String(Math.min(done, total)));
    this.at.count.textContent = this.progress ? fill(this.words.count, { done: this.number(done), total: this.number(total) }) : "";
  },

  say(text) {
    this.spoken = this.spokenFor === this.current ? `${this.spoken} ${text}` : text;
    this.spokenFor = this.current;
    this.at.live.textContent = this.spoken;
  },
});
