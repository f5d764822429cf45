// The keys that mean the same while labeling and while deciding. Each panel adds keys for what it alone can do; none of
// them may give a key of this file another meaning (tests/unit/web/kit/test_shared_keys.py).

/** @type {Record<string, string>} */
export const SHARED_KEYS = {
  u: "unrateable", l: "later", z: "back", Backspace: "back", n: "note", "/": "find", j: "down", k: "up", "?": "help",
  Enter: "confirm", "[": "previous", "]": "following",
};
