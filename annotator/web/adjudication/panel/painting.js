// What the decision panel draws of itself: the dispute that comes to the screen, how many are left, and the words when none is.

Object.assign(Deciding.prototype, {
  show(found) {
    this.current = found;
    this.standard.catchUp();
    this.root.dataset.pairId = found.pair;
    const lost = this.at.work.hidden;
    this.at.empty.hidden = true;
    this.at.work.hidden = false;
    this.at.decision.removeAttribute("data-words");
    this.paintQuery(found.query);
    this.drawing.show(found);
    this.view.show(found);
    this.form.show(found);
    if (lost || this.isFocusLost() || this.at.decision.contains(this.focused())) this.view.focus();
    this.time.begin();
    this.paintCount();
    this.saved.paint();
    this.nameAddress(found.pair);
    this.announce(found);
    (window.requestIdleCallback ?? setTimeout)(() => this.prepare());
  },

  prepare() { for (const ahead of this.queue.slice(0, 2)) this.view.prepare(ahead); },

  announce(found) {
    const reasons = found.waiting.map((reason) => this.words[`why_${reason}`]).join(", ");
    const said = found.judgments.map((one) => `${one.letter}: ${this.drawing.nameOf(one)}`).join(", ");
    this.say(`${this.words.query}: ${found.query.text}. ${this.words.document}: ${found.document.title || found.document.doc_id}. ${reasons}. ${said}`);
  },

  // The dispute on the screen stands in the address, so that it can be sent to somebody, and a reload shows it again.
  nameAddress(pair) {
    const address = new URL(location.href);
    if (address.searchParams.get("pair") === pair) return;
    address.searchParams.set("pair", pair);
    history.replaceState(history.state, "", address);
  },

  focused() { return this.root.getRootNode().activeElement; },

  // Whether the focus was on something of the panel's that is gone or disabled now.
  isFocusLost() {
    const focused = this.focused();
    return focused ? focused.disabled || focused.closest("[hidden]") !== null : document.activeElement === document.body;
  },

  paintQuery(query) {
    this.at.query.textContent = query.text;
    const long = (query.narrative ?? "").length > LONG_TEXT;
    this.at.narrativebox.hidden = !query.narrative;
    this.at.narrativebox.open = !long;
    this.at.narrativebox.toggleAttribute("data-short", !long);
    this.at.narrative.textContent = query.narrative ?? "";
    for (const said of [this.at.query, this.at.narrative]) sayLanguage(said, query.language ?? this.told.document_language);
    sayLanguage(this.view.region, this.told.document_language);
  },

  layOut() {
    const { at, words } = this;
    at.heading.textContent = fill(words.heading, { dataset: this.told.title });
    at.querylabel.textContent = words.query;
    at.narrativelabel.textContent = words.narrative;
    at.queuelink.textContent = words.queue;
    at.queuelink.href = this.addressOf(this.told.filter);
    for (const [name, label] of [["grades", words.grade], ["decision", words.decision], ["reading", words.reading], ["told", words.told], ["doings", words.doings]]) at[name].setAttribute("aria-label", label);
    for (const [act, key] of NAMED) nameButton(this.root.querySelector(`button[data-act=${act}]`), words[`do_${act}`], key);
  },

  addressOf(filter) { return `/disagreements?${new URLSearchParams({ dataset: this.told.dataset, ...filter })}`; },

  fit() { this.root.style.setProperty("--top", `${Math.max(0, this.root.getBoundingClientRect().top)}px`); },

  paintEmpty(text, links = false) {
    const held = this.at.work.contains(this.focused()) || this.focused()?.matches(".doings button:not([data-act=help])");
    this.root.dataset.pairId = "";
    this.at.work.hidden = true;
    this.at.empty.hidden = false;
    this.at.emptytext.textContent = text;
    const link = (href, label) => Object.assign(make("a", "", label), { href, target: "_self" });
    this.at.emptylinks.replaceChildren(...(links ? [link(this.addressOf({}), this.words.wholequeue), " ", link(`/overview?${new URLSearchParams({ dataset: this.told.dataset })}`, this.words.overview)] : []));
    if (held) this.at.empty.focus();
    if (links) this.say(text);
    this.paintCount();
    this.saved.paint();
  },

  paintCount() {
    const number = (n) => n.toLocaleString(this.told.language);
    this.at.count.textContent = this.left === null ? "" : fill(this.done ? this.words.position : this.words.waiting, { n: number(this.left), done: number(this.done) });
  },

  say(text) {
    this.spoken = this.spokenFor === this.current ? `${this.spoken} ${text}` : text;
    this.spokenFor = this.current;
    this.at.live.textContent = this.spoken;
  },
});
