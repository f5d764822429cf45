// What has changed since somebody's last answer or visit: the guideline, and the document's text, line by line.

import { make } from "./elements.js";
import { fill } from "./sentences.js";

/** @typedef {import("./sentences.js").Words} Words */

/**
 * @typedef {object} ChangedLine
 * @property {"same" | "added" | "removed"} [kind]
 * @property {string} [text]
 * @property {{ text: string, changed: boolean }[]} [parts] of a line of which only some words changed
 * @property {number} [skipped] instead of a line: how many that are the same are not shown
 */

/**
 * @typedef {object} GradeChange
 * @property {number} grade
 * @property {string} name
 * @property {string} before
 * @property {string} after
 * @property {ChangedLine[]} [lines]
 */

/** @typedef {{ from: number, to: number, why?: string, translated?: string, grades?: GradeChange[], guideline?: ChangedLine[] }} GuidelineChange */

/**
 * @typedef {object} AnswerChanges
 * @property {GuidelineChange | null} standard
 * @property {{ lines: ChangedLine[], cut?: boolean } | null} text
 */

/**
 * @param {AnswerChanges} changes
 * @param {Words} words
 */
export function describeChanges({ standard: guideline, text }, words) {
  /** @type {HTMLElement[]} */
  const parts = [];
  if (guideline) {
    parts.push(make("h3", "", fill(words.changes_standard, { from: guideline.from, to: guideline.to })));
    if (guideline.why) parts.push(make("p", "", guideline.why));
    if (guideline.translated) parts.push(make("p", "", guideline.translated));
    for (const grade of guideline.grades ?? []) {
      const title = make("h4");
      title.append(make("kbd", "", grade.grade), ` ${grade.name}`);
      parts.push(title, listLines(grade.lines ?? [{ kind: "removed", text: grade.before }, { kind: "added", text: grade.after }], words));
    }
    if (guideline.guideline?.length) parts.push(make("h4", "", words.sheet_guideline), listLines(guideline.guideline, words));
  }
  if (text) {
    parts.push(make("h3", "", words.changes_text), listLines(text.lines, words));
    if (text.cut) parts.push(make("p", "small", words.changes_cut));
  }
  return parts.length ? parts : [make("p", "", words.nochanges)];
}

/**
 * @param {ChangedLine[]} lines
 * @param {Words} words
 */
function listLines(lines, words) {
  const list = make("div", "changes");
  list.dir = "auto";
  list.append(...lines.map((line) => makeLineOfChanges(line, words)));
  return list;
}

/**
 * @param {ChangedLine} line
 * @param {Words} words
 */
function makeLineOfChanges({ kind, text, parts, skipped }, words) {
  if (skipped) return make("p", "small", fill(words.skipped, { n: skipped }));
  const line = make(kind === "added" ? "ins" : kind === "removed" ? "del" : "div");
  if (kind === "added" || kind === "removed") line.append(make("span", "unseen", words[kind]));
  if (parts?.length) line.append(...parts.map((part) => make(part.changed ? "b" : "span", "", part.text)));
  else line.append(text || "\u200b");
  return line;
}
