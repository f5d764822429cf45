// What has been saved and what has not, what stands in the way, and what was refused: quiet at once, unmissable when it lasts.

const LATE_MS = 1500;

class SavedLine {
  constructor(panel) { Object.assign(this, { panel, words: panel.words, trouble: null, full: false }); }

  paint() {
    const { root, at, unsent, returned, left } = this.panel;
    const waiting = unsent.list(), n = waiting.length;
    const late = n > 0 && Date.now() - waiting[0].pressed_at > LATE_MS;
    root.dataset.unsaved = String(n);
    root.toggleAttribute("data-late", late);
    at.saved.textContent = n ? fill(this.words.unsaved, { n }) : left === null ? "" : this.words.allsaved;
    this.alert(this.full ? "storage" : this.trouble ?? (late ? (navigator.onLine ? "slow" : "offline") : null), n, returned);
  }

  alert(why, n, returned) {
    const state = JSON.stringify([why, n, returned.map((one) => one.pair)]);
    if (state === this.alerted) return;
    this.alerted = state;
    const parts = [];
    if (why) {
      parts.push(make("span", "", `${n ? fill(this.words.unsavedlong, { n }) + " " : ""}${this.words[`why_${why}`]} `));
      if (why === "signedout" || why === "other_person") parts.push(this.signInLink());
    }
    if (returned.length) parts.push(make("span", "", fill(this.words.cameback, { n: returned.length }) + " "), makeButton("lookatit", this.words.lookatit));
    this.panel.at.alert.replaceChildren(...parts);
    this.panel.at.alert.hidden = !parts.length;
  }

  signInLink() {
    const link = make("a", "", this.words.signin);
    link.href = `/login?next=${encodeURIComponent(location.pathname + location.search)}`;
    return link;
  }

  // A quiet remark. It stays until it is closed or another dispute is decided.
  tell(text) {
    const close = makeButton("close_remark", "×");
    close.setAttribute("aria-label", this.words.close);
    this.panel.at.remark.replaceChildren(make("span", "", text), close);
    this.panel.at.remark.hidden = false;
  }

  closeRemark() {
    const held = this.panel.at.remark.contains(this.panel.root.getRootNode().activeElement);
    this.panel.at.remark.hidden = true;
    this.panel.at.remark.replaceChildren();
    if (held) this.panel.view.focus();
  }
}
