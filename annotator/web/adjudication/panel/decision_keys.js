// What each key of the decision panel does. The digits 0 to 3 are grades.

/** The key of each cause. @type {Record<string, string>} */
export const CAUSE_KEYS = { guideline_gap: "r", ambiguous_query: "q", misread_document: "m", missing_knowledge: "e", slip: "s", borderline: "b" };

/** @type {Record<string, string>} */
export const DECISION_KEYS = {
  u: "unrateable", x: "withdrawn", n: "rationale", g: "guideline", l: "later", z: "back", Backspace: "back", a: "assign", o: "names",
  d: "discuss", t: "trail", "/": "find", j: "down", k: "up", "[": "previous", "]": "following", "?": "help", Enter: "decide",
  ...Object.fromEntries(Object.entries(CAUSE_KEYS).map(([cause, key]) => [key, `cause_${cause}`])),
};

/** The buttons that show their key. */
export const BUTTONS = [["assign", "a"], ["discuss", "d"], ["names", "o"], ["trail", "t"], ["help", "?"], ["back", "z"], ["later", "l"], ["unrateable", "u"], ["withdrawn", "x"]];
