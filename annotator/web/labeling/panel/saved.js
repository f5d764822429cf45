// What has been saved and what has not, and what stands in the way: said quietly at once, and unmissably when it
// lasts. Says of each what happened and what is kept. Also the quiet remarks at the foot of the document.

const LATE_MS = 1500, REMARK_LASTS = 3;

class SavedState {
  constructor(panel) {
    Object.assign(this, { panel, words: panel.words, trouble: null, full: false, elsewhere: new Map(), remarks: 0 });
    this.refused = panel.outbox.listRefused();
  }

  paint() {
    const { outbox, root, at, progress } = this.panel;
    const waiting = outbox.list();
    const late = waiting.length > 0 && outbox.now() - Date.parse(waiting[0].pressed_at) > LATE_MS;
    root.dataset.unsaved = String(waiting.length);
    root.toggleAttribute("data-late", late);
    at.saved.textContent = waiting.length ? fill(this.words.unsaved, { n: waiting.length }) : progress ? this.words.allsaved : "";
    const why = this.full ? "storage" : this.trouble ?? (late ? (navigator.onLine ? "slow" : "offline") : null);
    this.alert(why, waiting.length, this.panel.current && this.elsewhere.get(this.panel.current.pair));
  }

  alert(why, n, elsewhere) {
    const state = JSON.stringify([why, n, elsewhere, this.refused.length]);
    if (state === this.alerted) return;
    this.alerted = state;
    const parts = [];
    if (why) {
      parts.push(make("span", "", `${n ? fill(this.words.unsavedlong, { n }) + " " : ""}${this.words[`why_${why}`]} `));
      if (why === "signedout" || why === "other_person") parts.push(this.signInLink());
    }
    if (elsewhere && !why) parts.push(make("span", "", this.words[elsewhere]));
    if (this.refused.length) parts.push(...this.listRefused());
    this.panel.at.alert.replaceChildren(...parts);
    this.panel.at.alert.hidden = !parts.length;
  }

  signInLink() {
    const link = make("a", "", this.words.signin);
    link.href = `/login?next=${encodeURIComponent(location.pathname + location.search)}`;
    return link;
  }

  listRefused() {
    const list = make("ul");
    for (const event of this.refused) {
      const line = make("li", "", `${event.document}: ${this.words[`refused_${event.code}`] ?? event.why}`);
      line.dir = "auto";
      if (event.note) line.append(make("br"), fill(this.words.refusednote, { note: event.note }));
      list.append(line);
    }
    return [make("span", "", fill(this.words.refused, { n: this.refused.length })), list, makeButton("forget", this.words.forget)];
  }

  refuse(event) {
    this.refused.push(event);
    this.panel.outbox.keepRefused(this.refused);
  }

  forgetRefused() {
    this.refused = [];
    this.panel.outbox.keepRefused([]);
    this.paint();
    this.panel.view.focus();
  }

  // A quiet remark. It stays until it is closed or some further answers have been given.
  tell(text) {
    const close = makeButton("close_remark", "×");
    close.setAttribute("aria-label", this.words.close);
    this.panel.at.remark.replaceChildren(make("span", "", text), close);
    this.panel.at.remark.hidden = false;
    this.remarks = REMARK_LASTS;
  }

  answered() { if (this.remarks && --this.remarks === 0) this.closeRemark(); }

  closeRemark() {
    const held = this.panel.at.remark.contains(this.panel.root.getRootNode().activeElement);
    this.panel.at.remark.hidden = true;
    this.panel.at.remark.replaceChildren();
    if (held) this.panel.view.focus();
  }
}
