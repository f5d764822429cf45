// Which key does what, and when a key press is meant for a panel at all. No key acts while somebody types, with a
// modifier (Shift only where the character needs it), from an input method, or by repeating itself (but j and k).

/** A grade, or the name of something that the panel does. @typedef {number | string} Act */

/** The fields, menus and dialogs in which keys are for typing or choosing. */
export const TYPING = "input,textarea,select,dialog,[role=dialog],[role=menu],[role=listbox],[role=combobox],[role=searchbox]";
const WITH_SHIFT = "/?[]";
const PRESSED_BY_ENTER = "button,a[href],summary,[role=button],[role=link]";

/**
 * Return what a key press asks the panel for; null if it is not for the panel.
 * @param {KeyboardEvent} event
 * @param {Record<string, string>} keys
 * @returns {Act | null}
 */
export function findAct(event, keys) {
  if (hasModifier(event) || isComposing(event) || event.defaultPrevented) return null;
  const target = event.composedPath()[0];
  const element = target instanceof HTMLElement ? target : null;
  if (element && (element.isContentEditable || element.closest(TYPING))) return null;
  const act = findGrade(event) ?? findActOfLetter(event, keys);
  if (event.repeat && act !== "down" && act !== "up") return null;
  if ((event.key === "Enter" || event.key === " ") && element?.closest(PRESSED_BY_ENTER)) return null;
  return act;
}

/**
 * Return the grade that a key means; null if it means none.
 * @param {KeyboardEvent} event
 */
export function findGrade(event) {
  if (/^[0-3]$/.test(event.key)) return Number(event.key);
  const digit = /^Digit([0-3])$/.exec(event.code);  // keyboards on which digits need Shift
  return digit && !event.shiftKey && !/^[0-9]$/.test(event.key) && event.key.length === 1 ? Number(digit[1]) : null;
}

/**
 * @param {KeyboardEvent} event
 * @param {Record<string, string>} keys
 * @returns {string | null}
 */
export function findActOfLetter(event, keys) {
  if (event.shiftKey) return WITH_SHIFT.includes(event.key) ? keys[event.key] ?? null : null;
  if (event.key === " ") return "goon";
  const position = /^Key([A-Z])$/.exec(event.code);  // keyboards without Latin letters
  const key = event.key.length === 1 && event.key > "~" && position ? position[1] : event.key;
  return keys[key.length === 1 ? key.toLowerCase() : key] ?? null;
}

/**
 * Return the digit 1 to `most` of a plain key press, for choosing from a numbered list; null for any other.
 * @param {KeyboardEvent} event
 * @param {number} most
 */
export function findChoice(event, most) {
  if (event.repeat || hasModifier(event) || event.shiftKey || isComposing(event)) return null;
  const digit = /^[1-9]$/.test(event.key) ? event.key : /^Digit([1-9])$/.exec(event.code)?.[1];
  return digit && Number(digit) <= most ? Number(digit) : null;
}

/** @param {KeyboardEvent} event */
export function hasModifier(event) { return event.ctrlKey || event.altKey || event.metaKey; }

/**
 * Return whether an input method is putting characters together. (Safari says it by the old key code alone.)
 * @param {KeyboardEvent} event
 */
export function isComposing(event) { return event.isComposing || event.keyCode === 229; }
