// The strip above a document: why an answered pair is on the screen again and what its annotator said of it, or what
// training has to say. Its button and Enter do the one thing that goes on.

class Strip {
  constructor(panel) {
    Object.assign(this, { panel, words: panel.words, at: panel.at.strip, asked: null, training: null });
  }

  // For the pair that comes to the screen.
  show(pair) {
    this.asked = null;
    if (pair.outdated) this.showOutdated(pair);
    else if (pair.training) this.fill([this.line(this.progressOfTraining(), this.words.training_hint)]);
    else if (pair.answer) this.fill([this.line(this.words.answered, fill(this.words.youranswer, { answer: this.nameAnswer(pair.answer) })), makeButton("confirm", this.words.keep, "⏎")]);
    else this.hide();
  }

  showOutdated(pair) {
    const why = [];
    if (pair.outdated.version) why.push(fill(this.words.older_standard, { n: pair.outdated.version }));
    if (pair.outdated.text_changed) why.push(this.words.older_text);
    const changes = makeButton("changes", this.words.whatchanged);
    const confirm = pair.answer ? [makeButton("confirm", this.words.confirm, "⏎", "primary")] : [];
    const answer = pair.answer ? fill(this.words.youranswer, { answer: this.nameAnswer(pair.answer) }) : "";
    this.fill([this.line(why.join(" "), answer), changes, ...confirm]);
  }

  nameAnswer({ outcome, grade, reason }) {
    if (outcome === "graded") return `${grade} ${this.panel.standard.nameOf(grade)}`;
    return reason ? `${this.words.do_unrateable} (${this.words[`reason_${reason}`]})` : this.words.do_unrateable;
  }

  // ---- training -----------------------------------------------------------------------------------------

  // The answer to a training pair is on its way: nothing else goes on until the server has said what is right.
  wait(event) {
    this.event = event;
    this.asked = { ...event, told: null };
    this.markGrades(event.grade, null);
    this.fill([this.line(this.progressOfTraining(), this.words.training_waits)]);
  }

  get waiting() { return this.asked !== null && this.asked.told === null; }
  get explained() { return this.asked !== null && this.asked.told !== null; }

  // What is right. It may come after a reload, or be asked for by another tab: then that tab shows it.
  hear(feedback, event) {
    if (this.asked ? this.asked.id !== feedback.id : event?.tab !== this.panel.exchange.tab) return;
    this.asked ??= { ...event };
    if (!this.panel.current) this.panel.at.emptytext.textContent = "";
    this.asked.told = feedback;
    const right = this.asked.grade === feedback.grade && this.asked.outcome === "graded";
    const name = this.panel.standard.nameOf(feedback.grade);
    const told = right ? fill(this.words.training_right, { grade: feedback.grade, name })
      : fill(this.words.training_wrong, { grade: feedback.grade, name, answer: this.nameAnswer(this.asked) });
    const why = make("p", "explanation", feedback.explanation);
    why.dir = "auto";
    const goOn = makeButton("goon", this.words.goon, "⏎", "primary");
    this.fill([this.line(told, ""), ...(feedback.explanation ? [why] : []), this.line("", this.sayTraining()), goOn]);
    this.markGrades(this.asked.grade, feedback.grade);
    this.at.dataset.kind = right ? "right" : "wrong";
    this.panel.say(`${told} ${feedback.explanation} ${this.sayTraining()}`);
    goOn.focus({ preventScroll: true });
  }

  // On the grades: what was answered, and what is right.
  markGrades(answered, right) {
    for (const button of this.panel.at.grades.children) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.act) === answered));
      button.toggleAttribute("data-right", right !== null && Number(button.dataset.act) === right);
    }
  }

  // What the latest answer means for the training as a whole.
  sayTraining() {
    const { training, words } = this;
    if (!training) return this.wasTraining ? words.training_over : "";
    const told = { right: training.right, total: training.total, required: Math.round(training.required * 100) };
    if (training.passed) return fill(words.training_passed, told);
    return training.done >= training.total ? fill(words.training_again, told) : this.progressOfTraining();
  }

  progressOfTraining() {
    return this.training ? fill(this.words.training, { n: this.training.done, m: this.training.total }) : this.words.training_plain;
  }

  hearTraining(training) {
    this.wasTraining ||= this.training !== null;
    this.training = training ?? null;
  }

  // ---- drawing ------------------------------------------------------------------------------------------

  line(strong, rest) {
    const line = make("p");
    if (strong) line.append(make("strong", "", strong), " ");
    line.append(rest);
    line.dir = "auto";
    return line;
  }

  fill(parts) {
    delete this.at.dataset.kind;
    const texts = make("div", "texts");
    texts.append(...parts.filter((part) => part.tagName !== "BUTTON"));
    this.at.replaceChildren(texts, ...parts.filter((part) => part.tagName === "BUTTON"));
    this.at.hidden = false;
  }

  hide() {
    this.asked = null;
    this.at.hidden = true;
    this.at.replaceChildren();
  }

  // What has changed since the annotator's own answer, in the sheet.
  async showChanges(pair) {
    const { dialogs, told, words } = this.panel;
    dialogs.openSheet(words.whatchanged, [make("p", "small", words.loading_changes)]);
    try { dialogs.openSheet(words.whatchanged, this.describe(await ask("/api/changes", { dataset: told.dataset, pair: pair.pair }))); }
    catch { dialogs.openSheet(words.whatchanged, [make("p", "", words.nochanges)]); }
  }

  describe({ standard, text }) {
    const { words } = this.panel;
    const parts = [];
    if (standard) {
      parts.push(make("h3", "", fill(words.changes_standard, { from: standard.from, to: standard.to })));
      if (standard.why) parts.push(make("p", "", standard.why));
      for (const grade of standard.grades ?? []) {
        const title = make("h4");
        title.append(make("kbd", "", grade.grade), ` ${grade.name}`);
        parts.push(title, this.differ(grade.lines ?? [{ kind: "removed", text: grade.before }, { kind: "added", text: grade.after }]));
      }
      if (standard.guideline?.length) parts.push(make("h4", "", words.sheet_guideline), this.differ(standard.guideline));
    }
    if (text) {
      parts.push(make("h3", "", words.changes_text), this.differ(text.lines));
      if (text.cut) parts.push(make("p", "small", words.changes_cut));
    }
    return parts.length ? parts : [make("p", "", words.nochanges)];
  }

  differ(lines) {
    const list = make("div", "changes");
    list.dir = "auto";
    for (const { kind, text, parts, skipped } of lines) {
      const line = make(skipped ? "p" : { added: "ins", removed: "del" }[kind] ?? "div", skipped ? "small" : "");
      if (kind !== "same") line.append(make("span", "unseen", kind === "added" ? this.words.added : this.words.removed));
      if (skipped) line.append(fill(this.words.skipped, { n: skipped }));
      else line.append(...(parts?.length ? parts.map((part) => make(part.changed ? "b" : "span", "", part.text)) : [text || "​"]));
      list.append(line);
    }
    return list;
  }
}
