// Dialogs over the panel: the sheet at the side (guideline and keys, or what has changed) and the question why a pair
// cannot be rated. Native modal dialogs: the focus stays inside, Esc closes, and the focus goes back to where it was.

const REASONS = ["unreadable", "wrong_language", "document_missing", "query_unclear", "other"];

class Dialogs {
  constructor(panel) {
    this.panel = panel;
    this.words = panel.words;
    this.sheet = panel.at.sheet;
    this.reasons = panel.at.reasons;
    this.layOut();
  }

  listen(on) {
    for (const dialog of [this.sheet, this.reasons]) {
      on(dialog, "click", (e) => { if (e.target === dialog || e.target.closest("[data-close]")) dialog.close(); });
      on(dialog, "close", () => this.closed(dialog));
    }
    on(this.sheet, "keydown", (e) => { if (e.key === "?" && !e.repeat) { e.preventDefault(); this.sheet.close(); } });
    on(this.reasons, "keydown", (e) => this.chooseByKey(e));
    on(this.reasons, "click", (e) => this.choose(e.target.closest("[data-reason]")?.dataset.reason));
  }

  layOut() {
    this.panel.at.reasontitle.textContent = this.words.reason_title;
    this.panel.at.reasonlist.replaceChildren(...REASONS.map((reason, i) => {
      const button = make("button");
      button.type = "button";
      button.dataset.reason = reason;
      button.setAttribute("aria-keyshortcuts", String(i + 1));
      button.append(make("kbd", "", i + 1), make("span", "", this.words[`reason_${reason}`]));
      return button;
    }));
    for (const close of this.panel.root.querySelectorAll("[data-close]")) nameButton(close, this.words.close, "Esc");
  }

  get open() { return this.sheet.open || this.reasons.open; }

  // Resolves to the chosen reason, or null.
  askReason() {
    if (this.open) return Promise.resolve(null);
    this.reasons.showModal();
    this.panel.at.reasonlist.firstElementChild.focus();
    return new Promise((resolve) => { this.answer = resolve; });
  }

  chooseByKey(e) {
    const choice = choiceOf(e, REASONS.length);
    if (choice === null) return;
    e.preventDefault();
    this.choose(REASONS[choice - 1]);
  }

  choose(reason) {
    if (!reason) return;
    const answer = this.answer;
    this.answer = null;
    this.reasons.close();
    answer?.(reason);
  }

  openSheet(title, parts) {
    this.panel.at.sheettitle.textContent = title;
    this.panel.at.sheetbody.replaceChildren(...parts);
    if (this.sheet.open) return;
    this.sheet.showModal();
    this.panel.at.sheetbody.scrollTop = 0;
    this.panel.at.sheetbody.focus();
  }

  // The browser puts the focus back to where it was. That may be gone by now, and the focus must never fall back to the
  // page's beginning; but this is heard of late, and whoever has gone on to a field meanwhile is left there.
  closed(dialog) {
    if (dialog === this.reasons) { this.answer?.(null); this.answer = null; }
    if (this.panel.isFocusLost()) this.panel.view.focus();
  }
}
