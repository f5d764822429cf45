// What is told of a dispute beside its document: why it is here, what each annotator says, what was asked and objected,
// the query's other documents, and what was decided so far. Everything is set as text.

class Drawing {
  constructor(panel) {
    Object.assign(this, { panel, words: panel.words, host: panel.at.told });
    const { language } = panel.told;
    this.moment = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
    this.day = new Intl.DateTimeFormat(language, { dateStyle: "medium" });
    this.score = new Intl.NumberFormat(language, { maximumFractionDigits: 3 });
    this.share = new Intl.NumberFormat(language, { style: "percent" });
  }

  show(found) {
    this.host.replaceChildren(...[
      this.drawReturned(found), this.drawWhy(found), ...this.drawTaken(found), this.drawJudgments(found), ...this.drawNotices(found),
      this.drawHistory(found), this.drawObjections(found), this.drawQuestions(found), this.drawAlike(found), this.drawNeighbours(found),
    ].filter(Boolean));
    this.host.scrollTop = 0;
  }

  part(name, title, ...parts) {
    const section = make("section", name);
    if (title) section.append(make("h2", "", title));
    section.append(...parts);
    return section;
  }

  // What a refused decision met, above everything else.
  drawReturned(found) {
    const typed = this.panel.typed.read(found.pair);
    if (!typed?.refused) return null;
    const list = make("ul");
    for (const change of this.listChanges(found, typed.before)) list.append(textLine("li", change));
    const part = this.part("notice returned", "", make("p", "", fill(this.words.returned, { why: typed.refused })), list, make("p", "", this.words.kepttyped));
    part.setAttribute("role", "group");
    return part;
  }

  // What is new of the case against what was on the screen (`before`: revision and judgments, see `summary`).
  listChanges(found, before) {
    if (!before) return [];
    const old = [...before.judgments], changes = [];
    for (const one of found.decisions.filter((decision) => decision.revision > before.revision))
      changes.push(fill(this.words.change_decided, { who: one.by, grade: this.nameOf(one) }) + (one.rationale ? ` ${one.rationale}` : ""));
    for (const one of found.judgments) {
      const place = old.indexOf(keyOf(one));
      if (place >= 0) old.splice(place, 1);
      else changes.push(fill(this.words.change_judged, { letter: one.letter, grade: this.nameOf(one) }) + (one.note ? ` ${one.note}` : ""));
    }
    return changes;
  }

  drawWhy(found) {
    const line = make("p", "why"), { words } = this;
    const say = (text, name = "badge") => line.append(make("span", name, text), " ");
    for (const reason of found.waiting) say(words[`why_${reason}`], "badge reason");
    if (!found.waiting.length) say(words[`status_${found.status}`] ?? found.status);
    if (found.distance) say(fill(words.distance, { n: found.distance }));
    if (found.taste) say(words.taste);
    if (found.lacking) say(fill(words.lacking, { n: found.lacking }));
    if (found.query.category) say(found.query.category);
    const quiet = [found.since ? fill(words.since, { when: this.day.format(new Date(found.since)) }) : "", this.sayImpact(found.impact)].filter(Boolean);
    const part = this.part("whypart", words.why_title, line, make("p", "small", quiet.join(" · ")));
    return part;
  }

  sayImpact(impact) {
    if (!impact || impact.ndcg === null || impact.ndcg === undefined) return "";
    const { words, score } = this;
    const parts = [fill(words.impact, { ndcg: score.format(impact.ndcg) })];
    if (impact.recall !== null && impact.recall !== undefined) parts.push(fill(words.impact_more, { recall: score.format(impact.recall), mrr: score.format(impact.mrr ?? 0) }));
    if (impact.flips) parts.push(fill(words.flips, { n: impact.flips }));
    return parts.join(" · ");
  }

  // Before whom it is open, and to whom it was given: what one knows before one begins.
  drawTaken(found) {
    const { words } = this, lines = [];
    if (found.held_by) lines.push(fill(words.heldby, { who: found.held_by }));
    if (found.assigned_to && found.assigned_to !== this.panel.told.username) lines.push(fill(words.assignedto, { who: found.assigned_to }));
    if (found.assigned_to === this.panel.told.username) lines.push(words.assignedyou);
    return lines.map((line) => textLine("p", line, "notice"));
  }

  drawNotices(found) {
    const { words } = this, lines = [];
    if (found.text_changed) lines.push(words.textchanged);
    if (found.contested_grade !== null && found.contested_grade !== undefined && !found.decisions.length) lines.push(fill(words.contested, { grade: this.nameGrade(found.contested_grade) }));
    if (found.discussion) lines.push(this.sayDiscussion(found.discussion));
    if (found.needs_second) lines.push(words.needssecond);
    for (const one of found.proposals ?? (found.proposal ? [found.proposal] : []))
      lines.push(fill(one.yours ? words.proposalyours : words.proposalother, { who: one.by, grade: this.nameOf(one) }) + (one.rationale ? ` ${one.rationale}` : ""));
    return lines.map((line) => textLine("p", line, "notice"));
  }

  sayDiscussion({ state, asked_at, waiting = [] }) {
    const said = fill(this.words[`discussion_${state}`] ?? state, { when: this.moment.format(new Date(asked_at)) });
    return [said, waiting.toSorted().join(" · ")].filter(Boolean).join("\n");
  }

  drawJudgments(found) {
    const { words } = this, columns = make("div", "columns");
    for (const one of found.judgments) {
      const column = make("article", "column");
      const letter = make("h3", "", fill(words.annotator, { letter: one.letter }));
      const said = make("p", "said", this.nameOf(one));
      said.dir = "auto";
      column.append(letter, said);
      const marks = [one.quality && words.mark_quality, one.simulated && words.mark_simulated,
        one.guideline_version < found.guideline_version && fill(words.mark_guideline, { n: one.guideline_version })].filter(Boolean);
      for (const mark of marks) column.append(make("span", "badge", mark), " ");
      if (one.note) column.append(textLine("p", one.note, "note"));
      if (one.turn) {
        column.append(textLine("p", fill(one.turn.revised ? words.turn_revised : words.turn_stands, { grade: this.nameOf(one.turn) }), "turn"));
        if (one.turn.note) column.append(textLine("p", one.turn.note, "note"));
      }
      columns.append(column);
    }
    return this.part("judgments", words.judgments, found.judgments.length ? columns : make("p", "small", words.nojudgments));
  }

  drawObjections(found) {
    if (!found.objections?.length) return null;
    const lines = found.objections.map((one) => textLine("p", `${fill(this.words.annotator, { letter: one.letter })} (${this.day.format(new Date(one.objected_at))}): ${one.text}`, "note"));
    return this.part("objections", this.words.objections, ...lines);
  }

  drawQuestions(found) {
    if (!found.questions?.length) return null;
    const parts = [];
    for (const one of found.questions) {
      parts.push(textLine("p", `${one.letter ? fill(this.words.annotator, { letter: one.letter }) + ": " : ""}${one.text}`, "note"));
      if (one.answer) parts.push(textLine("p", fill(this.words.answered, { answer: one.answer }), "note answer"));
      else parts.push(this.drawAnswer(one));
    }
    return this.part("questions", this.words.questions, ...parts);
  }

  drawAnswer({ number }) {
    const box = make("div", "answerbox"), text = make("textarea");
    Object.assign(text, { rows: 1, maxLength: 5000, dir: "auto", placeholder: this.words.answerhint });
    text.setAttribute("aria-label", this.words.answerhint);
    const button = make("button", "", this.words.do_answer);
    button.type = "button";
    button.addEventListener("click", () => this.panel.answer(number, text, button));
    text.addEventListener("keydown", (e) => {
      if (e.key === "Escape" && !e.isComposing) this.panel.view.focus();
      if (e.key === "Enter" && (e.ctrlKey || e.metaKey) && !e.isComposing && !e.repeat) this.panel.answer(number, text, button);
    });
    box.append(text, button);
    return box;
  }

  drawAlike(found) {
    const alike = found.neighbours.filter((one) => one.near !== null);
    return alike.length ? this.part("alike", this.words.alike, this.listDocuments(alike)) : null;
  }

  drawNeighbours(found) {
    const others = found.neighbours.filter((one) => one.near === null);
    if (!others.length) return null;
    const box = make("details", "neighbours"), summary = make("summary", "", fill(this.words.neighbours, { n: others.length }));
    box.append(summary);
    box.addEventListener("toggle", () => { if (box.open && box.childElementCount === 1) box.append(this.listDocuments(others)); });
    return box;
  }

  listDocuments(documents) {
    const list = make("ul", "documents");
    for (const one of documents) {
      const line = make("li"), grade = make("span", "grade", one.grade === null ? "–" : String(one.grade)), name = make("span", "name", one.title || one.doc_id);
      grade.title = one.grade === null ? this.words[`status_${one.status}`] ?? one.status : this.nameGrade(one.grade);
      name.dir = "auto";
      name.title = one.doc_id;
      line.append(grade, name, make("span", "small", [one.near === null ? "" : fill(this.words.near, { share: this.share.format(Math.floor(one.near * 100) / 100) }), this.words[`status_${one.status}`] ?? one.status].filter(Boolean).join(" · ")));
      list.append(line);
    }
    return list;
  }

  drawHistory(found) {
    if (!found.decisions.length) return null;
    const list = make("ol", "history");
    for (const one of found.decisions.toReversed()) {
      const line = make("li");
      const cause = one.cause ? this.words[`cause_${one.cause}`] : one.reason;
      const extra = [cause, one.in_guideline ? this.words.inguideline : ""].filter(Boolean).join(" · ");
      const when = one.decided_at ? this.moment.format(new Date(one.decided_at)) : this.words.justnow;
      line.append(make("strong", "", this.nameOf(one)), make("span", "small", ` ${one.yours ? this.words.byyou : one.by} · ${when}${extra ? " · " + extra : ""}`));
      if (one.rationale) line.append(textLine("p", one.rationale, "note"));
      list.append(line);
    }
    return this.part("decided", this.words.history, list);
  }

  nameOf({ outcome, grade }) { return outcome === "graded" ? this.nameGrade(grade) : outcome === "withdrawn" ? this.words.withdrawn : this.words.unrateable; }

  nameGrade(grade) { return `${grade} · ${this.panel.standard.nameOf(grade)}`; }
}

function textLine(tag, text, name = "") {
  const line = make(tag, name, text);
  line.dir = "auto";
  return line;
}

// What of a case is compared when its decision was refused.
function summary(found) { return { revision: found.decisions.at(-1)?.revision ?? 0, judgments: found.judgments.map(keyOf) }; }

function keyOf(one) { return JSON.stringify([one.outcome, one.grade, one.note ?? null, one.turn ?? null]); }
