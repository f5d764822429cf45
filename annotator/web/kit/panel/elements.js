// Makes and finds the elements that the panels show. Everything is set as text: a document cannot run anything.

/**
 * Make an element with a class and a text.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} [className]
 * @param {string | number | null} [text]
 */
export function make(tag, className = "", text = null) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  if (text !== null) element.textContent = String(text);
  return element;
}

/**
 * Make an element whose text may be in any language, and so runs in the direction that its own letters ask for.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} text
 * @param {string} [className]
 */
export function makeText(tag, text, className = "") {
  const element = make(tag, className, text);
  element.dir = "auto";
  return element;
}

/**
 * Make a button that does `act`, which the panel hears of through `data-act`, and that shows its key.
 * @param {string} act
 * @param {string} text
 * @param {string} [key]
 * @param {string} [className]
 */
export function makeActButton(act, text, key = "", className = "") {
  const button = makeButton(text, key, className);
  button.dataset.act = act;
  return button;
}

/**
 * Make a button that shows its key; what a click does is added by the caller.
 * @param {string} text
 * @param {string} [key]
 * @param {string} [className]
 */
export function makeButton(text, key = "", className = "") {
  const button = make("button", className);
  button.type = "button";
  nameButton(button, text, key);
  return button;
}

/**
 * Write a button's text and its key.
 * @param {HTMLElement} button
 * @param {string} text
 * @param {string} [key]
 */
export function nameButton(button, text, key = "") {
  button.replaceChildren(make("span", "", text));
  if (!key) return;
  /** @type {Record<string, string>} */
  const shortcuts = { z: "Z Backspace", "⏎": "Enter" };
  button.setAttribute("aria-keyshortcuts", shortcuts[key] ?? key.toUpperCase());
  button.append(makeHiddenKey(key));
}

/**
 * Make a key's sign that a screen reader does not read: it knows the key from `aria-keyshortcuts`.
 * @param {string} key
 */
export function makeHiddenKey(key) {
  const sign = make("kbd", "", key);
  sign.setAttribute("aria-hidden", "true");
  return sign;
}

/**
 * Tell a screen reader how to pronounce a text, and the browser which signs of the writing systems of East Asia to take.
 * @param {HTMLElement} element
 * @param {string | null | undefined} language
 */
export function setLanguage(element, language) {
  if (language && /^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(language)) element.lang = language;
  else element.removeAttribute("lang");
}

/**
 * Return the element of a panel that its HTML names by `data-at`.
 * @template {HTMLElement} Kind
 * @param {HTMLElement} root
 * @param {string} name
 * @param {new () => Kind} kind
 * @returns {Kind}
 */
export function findPart(root, name, kind) {
  return findElement(root, `[data-at="${name}"]`, kind);
}

/**
 * Return the button of a panel that does `act`.
 * @param {HTMLElement} root
 * @param {string} act
 */
export function findActButton(root, act) {
  return findElement(root, `button[data-act="${act}"]`, HTMLButtonElement);
}

/**
 * @template {HTMLElement} Kind
 * @param {ParentNode} root
 * @param {string} selector
 * @param {new () => Kind} kind
 * @returns {Kind}
 */
export function findElement(root, selector, kind) {
  const element = root.querySelector(selector);
  if (element instanceof kind) return element;
  throw new Error(`The page has no ${selector}.`);
}

/**
 * Return the element that holds the focus inside the page or the shadow root that `element` is in.
 * @param {HTMLElement} element
 * @returns {Element | null}
 */
export function findFocused(element) {
  const root = element.getRootNode();
  return root instanceof Document || root instanceof ShadowRoot ? root.activeElement : null;
}

/**
 * Return whether the focus was on something of the panel's that is gone or disabled now.
 * @param {HTMLElement} root
 */
export function isFocusLost(root) {
  const focused = findFocused(root);
  if (!focused) return document.activeElement === document.body;
  return focused.matches(":disabled") || focused.closest("[hidden]") !== null;
}

/**
 * Return the nearest element around what an event happened to that matches the selector.
 * @param {Event} event
 * @param {string} selector
 * @returns {HTMLElement | null}
 */
export function findAround(event, selector) {
  const element = event.target instanceof Element ? event.target.closest(selector) : null;
  return element instanceof HTMLElement ? element : null;
}

/**
 * Write a text; leave an element that shows it already as it is, so that it need not be laid out again.
 * @param {HTMLElement} element
 * @param {string} text
 */
export function writeText(element, text) { if (element.textContent !== text) element.textContent = text; }

/**
 * Call `work` when the browser has nothing better to do.
 * @param {() => void} work
 */
export function runWhenIdle(work) {
  if ("requestIdleCallback" in window) window.requestIdleCallback(work);
  else setTimeout(work);
}
