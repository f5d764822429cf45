// The standard beside the work: the definitions at the grades, and the sheet with the whole guideline and the keys.
// A newer version is fetched when a pair comes with it, and shown from the next pair on, never under a pair that is
// being read. `shown` is the version on the screen, which every judgment carries.

class Standard {
  constructor(panel) {
    this.panel = panel;
    this.words = panel.words;
    this.known = panel.told.standard;
    this.asking = false;
    this.paint();
  }

  get shown() { return this.painted.version; }

  nameOf(grade) { return this.painted.grades.find((g) => g.grade === grade)?.name ?? String(grade); }

  // Hears of the version that a pair came with.
  async hear(version) {
    if (!(version > this.known.version) || this.asking) return;
    this.asking = true;
    try {
      const found = await ask("/api/standard", { dataset: this.panel.told.dataset });
      if (found.version > this.known.version) this.known = found;
    } catch { /* the next pair asks again */ }
    this.asking = false;
  }

  // Called when another pair comes to the screen, and before it does.
  catchUp() {
    if (this.known === this.painted) return;
    this.paint();
    this.panel.saved.tell(this.words.newstandard);
  }

  paint() {
    this.painted = this.known;
    this.panel.at.grades.replaceChildren(...this.painted.grades.map((grade) => {
      const button = make("button");
      button.type = "button";
      button.dataset.act = grade.grade;
      button.setAttribute("aria-keyshortcuts", String(grade.grade));
      const name = make("span", "name", grade.name);
      const meaning = make("span", "meaning", grade.definition);
      name.dir = meaning.dir = "auto";
      button.append(make("kbd", "", grade.grade), name, meaning);
      return button;
    }));
  }

  // The standard that is on the screen is read, and the newest one where there is one.
  openSheet() {
    const guideline = make("div", "guideline");
    guideline.dir = "auto";
    guideline.innerHTML = this.known.guideline_html;  // made by the server from Markdown: nothing active, nothing fetched
    const version = make("p", "small", fill(this.words.version, { n: this.known.version }));
    this.panel.dialogs.openSheet(this.words.sheet_title, [
      make("h3", "", this.words.sheet_grades), ...this.known.grades.map((grade) => this.describe(grade)), version,
      ...(this.known.guideline_html ? [make("h3", "", this.words.sheet_guideline), guideline] : []),
      make("h3", "", this.words.sheet_keys), this.listKeys(),
    ]);
  }

  describe(grade) {
    const part = make("section", "definition");
    part.dir = "auto";
    const title = make("h4");
    title.append(make("kbd", "", grade.grade), ` ${grade.name}`);
    part.append(title, make("p", "", grade.definition));
    for (const [examples, word, name] of [[grade.positive_examples, "counts", "yes"], [grade.negative_examples, "countsnot", "no"]]) {
      if (!examples?.length) continue;
      const list = make("ul", name);
      for (const example of examples) list.append(make("li", "", example));
      part.append(make("p", "small", this.words[word]), list);
    }
    return part;
  }

  listKeys() {
    const list = make("dl", "keys");
    for (const [keys, meaning] of this.panel.told.keys) {
      const term = make("dt");
      for (const key of keys) term.append(make("kbd", "", key), " ");
      list.append(term, make("dd", "", meaning));
    }
    return list;
  }
}
