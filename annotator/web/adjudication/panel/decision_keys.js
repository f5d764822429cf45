// What each key of the decision panel does. The digits 0 to 3 are grades.

import { SHARED_KEYS } from "../../kit/panel/shared_keys.js";

/** The key of each cause. @type {Record<string, string>} */
export const CAUSE_KEYS = { guideline_gap: "r", ambiguous_query: "v", misread_document: "m", missing_knowledge: "e", slip: "s", borderline: "b" };

/** @type {Record<string, string>} */
export const DECISION_KEYS = {
  ...SHARED_KEYS, x: "withdrawn", g: "guideline", a: "assign", o: "names", d: "discuss", t: "trail",
  ...Object.fromEntries(Object.entries(CAUSE_KEYS).map(([cause, key]) => [key, `cause_${cause}`])),
};

/** The buttons that show their key. */
export const BUTTONS = [["assign", "a"], ["discuss", "d"], ["names", "o"], ["trail", "t"], ["help", "?"], ["back", "z"], ["later", "l"], ["unrateable", "u"], ["withdrawn", "x"]];
