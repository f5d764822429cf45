// The decision on the dispute that is on the screen: a grade (or that it cannot be rated), why, a code for the cause, and
// whether the guideline should say so. What is chosen and typed is kept for its pair until it is stored.

const CAUSE_KEYS = { guideline_gap: "r", ambiguous_query: "q", misread_document: "m", missing_knowledge: "e", slip: "s", borderline: "b" };
const WORDS_FROM = 2, ALIKE_FROM = 0.9;

class DecisionForm {
  constructor(panel) {
    Object.assign(this, { panel, at: panel.at, words: panel.words, case: null, warned: null });
    this.layOut();
  }

  layOut() {
    const { at, words } = this;
    at.causes.setAttribute("aria-label", words.cause);
    at.causes.append(...Object.entries(CAUSE_KEYS).map(([cause, key]) => makeButton(`cause_${cause}`, words[`cause_${cause}`], key)));
    nameButton(this.button("guideline"), words.inguideline, "g");
    at.rationalelabel.replaceChildren(make("span", "", words.rationale), hidden(make("kbd", "", "n")));
    at.rationale.setAttribute("aria-keyshortcuts", "N");
    at.rationale.placeholder = words.rationalehint;
    at.rationale.addEventListener("input", () => { this.warned = null; this.keep(); this.say(""); });
    at.rationale.addEventListener("keydown", (e) => this.key(e));
  }

  button(act) { return this.panel.root.querySelector(`button[data-act="${act}"]`); }

  key(e) {
    if (e.isComposing || e.keyCode === 229 || e.repeat) return;
    if (e.key === "Escape") this.panel.view.focus();
    else if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) this.decide();
    else return;
    e.preventDefault();
  }

  // Another dispute, or the same as it is now (`again`: what is chosen and typed stays).
  show(found, again = false) {
    const goesOn = again && this.pressed === JSON.stringify(summary(found));  // pressed before it had come anew, and nothing is new
    this.pressed = null;
    this.case = found;
    this.warned = null;
    if (!again) this.take(this.panel.typed.read(found.pair) ?? {});
    this.at.asked.hidden = Boolean(found.barred);
    this.at.barred.hidden = !found.barred;
    this.at.barred.textContent = found.barred ? fill(this.words.barred, { why: found.barred }) : "";
    this.button("withdrawn").hidden = !isWithdrawable(found);
    this.button("unrateable").hidden = Boolean(found.barred);
    nameButton(this.button("decide"), found.barred ? this.words.do_next : this.words.do_decide, "⏎");
    this.say("");
    this.paint();
    if (goesOn) this.decide();
  }

  take({ decided = null, rationale = "", cause = null, in_guideline = false }) {
    Object.assign(this, { decided, cause, inGuideline: in_guideline });
    this.at.rationale.value = rationale;
  }

  read() {
    return { decided: this.decided, rationale: this.at.rationale.value.trim(), cause: this.cause, in_guideline: this.inGuideline };
  }

  keep() {
    const { decided, cause, in_guideline } = this.read(), rationale = this.at.rationale.value;
    const { refused, before } = this.panel.typed.read(this.case.pair) ?? {};
    const empty = decided === null && !rationale && !cause && !in_guideline && !refused;
    this.panel.typed.write(this.case.pair, empty ? null : { decided, rationale, cause, in_guideline, ...(refused ? { refused, before } : {}) });
  }

  // By key the same again stores; by mouse it only chooses, so that a double click stores nothing.
  choose(decided, byKey) {
    if (this.case.barred) return this.say(this.words.isbarred);
    if (this.decided === decided && byKey) return this.decide();
    this.decided = decided;
    this.changed();
  }

  setCause(cause) { this.cause = this.cause === cause ? null : cause; this.changed(); }

  setGuideline() { this.inGuideline = !this.inGuideline; this.changed(); }

  changed() {
    this.warned = null;
    this.keep();
    this.paint();
    const owed = this.decided !== null && !this.at.rationale.value.trim() ? this.owed() : "";
    if (owed !== this.at.hint.textContent) this.say(owed);  // what is owed still stands there, and is not read out again
  }

  paint() {
    const others = ["unrateable", "withdrawn"].map((act) => this.button(act));
    for (const button of [...this.at.asked.querySelectorAll("button[data-act]"), ...others]) {
      const { act } = button.dataset;
      const pressed = act === "guideline" ? this.inGuideline : act.startsWith("cause_") ? act === `cause_${this.cause}` : act === String(this.decided);
      button.setAttribute("aria-pressed", String(pressed));
    }
    this.at.decision.toggleAttribute("data-chosen", this.decided !== null);
    this.at.rationale.setAttribute("aria-required", String(Boolean(this.decided !== null && this.owed())));
  }

  // Why words are owed for what is chosen; "" when none are.
  owed() {
    if (this.decided === "withdrawn") return "";
    if (this.case.distance >= WORDS_FROM) return fill(this.words.owes_distance, { n: this.case.distance });
    const given = this.case.judgments.map((one) => (one.outcome === "graded" ? one.grade : one.outcome));
    return given.includes(this.decided) ? "" : this.words.owes_nobody;
  }

  // The documents with nearly the same text that are settled otherwise than what is chosen.
  unlike() {
    if (this.decided === "withdrawn") return [];
    return this.case.neighbours.filter((one) => one.near >= ALIKE_FROM && one.grade !== null && one.grade !== this.decided);
  }

  decide() {
    const { panel, words } = this;
    if (this.case.barred) return panel.goOn();
    if (this.decided === null) return isOpen(this.case) ? this.say(words.choosefirst) : panel.goOn();
    if (this.case.stale) {
      this.pressed = JSON.stringify(summary(this.case));
      return this.say(words.stale);
    }
    if (this.owed() && !this.at.rationale.value.trim()) {
      this.at.decision.toggleAttribute("data-words", true);
      this.at.rationale.focus();
      return this.say(this.owed());
    }
    const unlike = this.unlike();
    if (unlike.length && this.warned !== this.decided) {
      this.warned = this.decided;
      return this.say(fill(words.unlike, { document: unlike[0].title || unlike[0].doc_id, grade: unlike[0].grade, n: unlike.length }), "warning");
    }
    panel.decide(this.read());
  }

  say(text, kind = "") {
    this.at.hint.textContent = text;
    this.at.hint.dataset.kind = kind;
    if (text) this.panel.say(text);
  }
}

function hidden(element) { element.setAttribute("aria-hidden", "true"); return element; }

function isOpen(found) { return found.waiting.length > 0; }

function isWithdrawable({ decisions, proposal }) {
  const last = decisions.at(-1);
  return Boolean((last && last.outcome !== "withdrawn") || proposal?.yours);
}
