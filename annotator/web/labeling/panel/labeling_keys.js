// What each key of the labeling panel does. The digits 0 to 3 are grades.

/** @type {Record<string, string>} */
export const LABELING_KEYS = {
  u: "unrateable", l: "later", z: "back", Backspace: "back", n: "note", "/": "find", j: "down", k: "up", "?": "help",
  Enter: "confirm", "[": "previous", "]": "following", w: "list", p: "propose", q: "question",
};
