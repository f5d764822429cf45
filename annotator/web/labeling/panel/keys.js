// Which key does what, and when a key press is meant for the panel at all. No key acts while somebody types, with a
// modifier (Shift only where the character needs it), from an input method, or by repeating itself (but j and k).

const KEYS = { u: "unrateable", l: "later", z: "back", Backspace: "back", n: "note", "/": "find", j: "down", k: "up", "?": "help",
  Enter: "confirm", "[": "previous", "]": "following", w: "list", p: "propose", q: "question" };
const BY_SHIFT = "/?[]";
const TYPING = "input,textarea,select,dialog,[role=dialog],[role=menu],[role=listbox],[role=combobox],[role=searchbox]";
const ITS_OWN = "button,a[href],summary,[role=button],[role=link]";

// What the key asks for: a grade, a word of `keys`, or null when it is not for the panel.
function actOf(e, keys = KEYS) {
  if (e.ctrlKey || e.altKey || e.metaKey || e.isComposing || e.keyCode === 229 || e.defaultPrevented) return null;
  const target = e.composedPath()[0];
  const element = target instanceof Element ? target : null;
  if (element && (element.isContentEditable || element.closest(TYPING))) return null;
  const act = gradeOf(e) ?? letterOf(e, keys);
  if (e.repeat && act !== "down" && act !== "up") return null;
  if ((e.key === "Enter" || e.key === " ") && element?.closest(ITS_OWN)) return null;
  return act;
}

function gradeOf(e) {
  if (/^[0-3]$/.test(e.key)) return Number(e.key);
  const digit = /^Digit([0-3])$/.exec(e.code);  // keyboards on which digits need Shift
  return digit && !e.shiftKey && !/^[0-9]$/.test(e.key) && e.key.length === 1 ? Number(digit[1]) : null;
}

function letterOf(e, keys = KEYS) {
  if (e.shiftKey) return BY_SHIFT.includes(e.key) ? keys[e.key] ?? null : null;
  if (e.key === " ") return "goon";
  const other = /^Key([A-Z])$/.exec(e.code);  // keyboards without Latin letters
  const key = e.key.length === 1 && e.key > "~" && other ? other[1] : e.key;
  return keys[key.length === 1 ? key.toLowerCase() : key] ?? null;
}

// The digit 1 to `most` of a plain key press, for choosing from a numbered list; null for any other.
function choiceOf(e, most) {
  if (e.repeat || e.ctrlKey || e.altKey || e.metaKey || e.shiftKey || e.isComposing || e.keyCode === 229) return null;
  const digit = /^[1-9]$/.test(e.key) ? e.key : /^Digit([1-9])$/.exec(e.code)?.[1];
  return digit && Number(digit) <= most ? Number(digit) : null;
}
