// What each key of the labeling panel does. The digits 0 to 3 are grades.

import { SHARED_KEYS } from "../../kit/panel/shared_keys.js";

/** @type {Record<string, string>} */
export const LABELING_KEYS = { ...SHARED_KEYS, w: "list", h: "history", p: "propose", q: "question" };
