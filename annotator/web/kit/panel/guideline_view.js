// The guideline beside the work: the definitions at the grades, and the sheet with the keys and the whole guideline.
// A newer version is fetched when a pair comes with it, and shown from the next pair on, never under a pair that is
// being read. A remark then tells of it, and the sheet opens on what it changed until that has been read.

import { readStored, writeStored } from "./browser_storage.js";
import { describeChanges } from "./changes.js";
import { make, makeActButton, makeText, setLanguage } from "./elements.js";
import { askServer } from "./requests.js";
import { fill } from "./sentences.js";
import { makeTabs } from "./tabs.js";

/** @typedef {import("./messages.js").GradeDefinition} GradeDefinition */
/** @typedef {import("./messages.js").Guideline} Guideline */

/**
 * What the view needs of a panel.
 * @typedef {object} GuidelineSettings
 * @property {string} username
 * @property {string} dataset
 * @property {Guideline} guideline
 * @property {[keys: string[], meaning: string][]} keys
 * @property {import("./sentences.js").Words} words
 * @property {HTMLElement} grades where the buttons of the grades stand
 * @property {(title: string, parts: HTMLElement[]) => void} openSheet
 * @property {(text: string, ...buttons: HTMLElement[]) => void} remark
 * @property {() => void} closeRemark
 */

export class GuidelineView {
  /** @param {GuidelineSettings} settings */
  constructor({ username, dataset, guideline, keys, words, grades, openSheet, remark, closeRemark }) {
    this.dataset = dataset;
    this.key = `annotator/guideline/${encodeURIComponent(username)}/${encodeURIComponent(dataset)}`;
    this.keys = keys;
    this.words = words;
    this.grades = grades;
    this.showSheet = openSheet;
    this.remark = remark;
    this.closeRemark = closeRemark;
    this.newest = guideline;
    this.painted = guideline;
    this.asking = false;
    /** Whether this person was never here in this browser. */
    this.isFirstVisit = false;
    /** @type {import("./changes.js").GuidelineChange | null} what the version changed that this person has not read about yet */
    this.unread = null;
    this.paint();
  }

  /** Tell of a version that was published since this person was here last. Someone new has nothing to compare. */
  async tellOfChangesSinceLastVisit() {
    const seen = readStored(this.key);
    this.isFirstVisit = typeof seen !== "number";
    writeStored(this.key, this.newest.version);
    if (typeof seen !== "number" || seen >= this.newest.version) return;
    try {
      /** @type {Guideline} */
      const { change } = await askServer("/api/standard", { dataset: this.dataset, since: String(seen) });
      if (change) this.tell(change);
    } catch { /* the guideline itself is on the screen */ }
  }

  /** The version on the screen, which every judgment carries. */
  get shownVersion() { return this.painted.version; }

  /** @param {number} grade */
  nameOf(grade) { return this.painted.grades.find((definition) => definition.grade === grade)?.name ?? String(grade); }

  /**
   * Take notice of the version that a pair came with.
   * @param {number} version
   */
  async noticeVersion(version) {
    if (!(version > this.newest.version) || this.asking) return;
    this.asking = true;
    try {
      /** @type {Guideline} */
      const guideline = await askServer("/api/standard", { dataset: this.dataset, since: String(this.painted.version) });
      if (guideline.version > this.newest.version) this.newest = guideline;
    } catch { /* the next pair asks again */ }
    this.asking = false;
  }

  /** Show the newest version. Called before another pair comes to the screen. */
  catchUp() {
    if (this.newest === this.painted) return;
    const { change } = this.newest;
    this.paint();
    writeStored(this.key, this.newest.version);
    if (change) this.tell(change);
  }

  /** @param {import("./changes.js").GuidelineChange} change */
  tell(change) {
    this.unread = change;
    this.remark(fill(this.words.newstandard, { n: change.to }), makeActButton("help", this.words.whatchanged, "?"));
  }

  paint() {
    this.painted = this.newest;
    this.grades.replaceChildren(...this.painted.grades.map(makeGradeButton));
    setLanguage(this.grades, this.painted.language);
  }

  /** Open the sheet, on the keys or on what a new version changed. Whoever reads it sees the newest version. */
  openSheet() {
    const { words, unread } = this;
    const tabs = [{ name: words.sheet_keys, parts: [this.listKeys()] }, { name: words.sheet_guideline, parts: this.describeGuideline() }];
    if (unread) tabs.push({ name: words.whatchanged, parts: describeChanges({ standard: unread, text: null }, words) });
    this.showSheet(words.sheet_title, makeTabs(words.sheet_title, tabs, unread ? 2 : 0));
    if (!unread) return;
    this.unread = null;
    this.closeRemark();
  }

  /**
   * Open the sheet for somebody new: the keys in a line, then the guideline.
   * @param {string} title
   * @param {string} hint what else to say; may be empty
   */
  welcome(title, hint) {
    const start = make("button", "primary", this.words.welcome_start);
    start.type = "button";
    start.dataset.close = "";
    this.showSheet(title, [make("p", "welcome", this.words.welcome_keys), ...(hint ? [make("p", "small", hint)] : []), ...this.describeGuideline(), start]);
  }

  describeGuideline() {
    const { words, newest } = this;
    const guideline = make("div", "guideline");
    guideline.dir = "auto";
    setLanguage(guideline, newest.guideline_language);
    guideline.innerHTML = newest.guideline_html;  // made by the server from Markdown: nothing active, nothing fetched
    return [
      make("p", "small", fill(words.version, { n: newest.version })),
      ...(newest.missing ? [make("p", "small", newest.missing)] : []),
      make("h3", "", words.sheet_grades), ...newest.grades.map((grade) => this.describeGrade(grade)),
      ...(newest.guideline_html ? [make("h3", "", words.sheet_guideline), guideline] : []),
    ];
  }

  /** @param {GradeDefinition} grade */
  describeGrade(grade) {
    const part = make("section", "definition");
    part.dir = "auto";
    setLanguage(part, this.newest.language);
    const title = make("h4");
    title.append(make("kbd", "", grade.grade), ` ${grade.name}`);
    part.append(
      title, make("p", "", grade.definition),
      ...listExamples(this.words.counts, "yes", grade.positive_examples), ...listExamples(this.words.countsnot, "no", grade.negative_examples),
    );
    return part;
  }

  listKeys() {
    const list = make("dl", "keys");
    for (const [keys, meaning] of this.keys) {
      const term = make("dt");
      for (const key of keys) term.append(make("kbd", "", key), " ");
      list.append(term, make("dd", "", meaning));
    }
    return list;
  }
}

/** @param {GradeDefinition} definition */
function makeGradeButton({ grade, name, definition }) {
  const button = make("button");
  button.type = "button";
  button.dataset.act = String(grade);
  button.setAttribute("aria-keyshortcuts", String(grade));
  button.append(make("kbd", "", grade), makeText("span", name, "name"), makeText("span", definition, "meaning"));
  return button;
}

/**
 * @param {string} title
 * @param {string} className
 * @param {string[]} [examples]
 */
function listExamples(title, className, examples = []) {
  if (!examples.length) return [];
  const list = make("ul", className);
  list.append(...examples.map((example) => make("li", "", example)));
  return [make("p", "small", title), list];
}
