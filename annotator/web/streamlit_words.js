// The language of the page, and Streamlit's own words in it: Streamlit has them in English only.
//
// React changes a text or an attribute only when its own value changes, so what is put in place here stays until then.
// The panels for judging and deciding are in shadow trees, which are not observed: a press there costs nothing here.

const TEXTS = [
  '[data-testid="stFileUploader"]',
  '[data-testid="InputInstructions"]',
  '[data-testid="stSkipToContent"]',
  '[role="listbox"]',
].join();
const NAMED = '[data-testid="stMain"] [aria-label], [data-testid="stSidebar"][aria-label], [data-testid="stSidebar"] [aria-label], [role="dialog"] [aria-label]';
const HINTED = '[data-testid="stSelectbox"] [placeholder], [data-testid="stMultiSelect"] [placeholder]';
const SIZE = /^(\d+) ?MB per file(?= |$)/;
const REMOVE = /^Remove (.+)$/;
const ENTER = /^Press (Enter|Ctrl\+Enter|⌘\+Enter) to (apply|submit form)$/;

/** @typedef {Record<string, string>} Words */

/** @type {Words} */
let words = {};
/** @type {MutationObserver | null} */
let observer = null;
let planned = false;

/**
 * Return Streamlit's text in the reader's language; the text itself if it is not one of Streamlit's.
 * @param {string} text
 */
function translate(text) {
  const said = words[text];
  if (said) return said;
  const size = text.match(SIZE);
  if (size) return text.replace(SIZE, (words["{mb} MB per file"] ?? "").replace("{mb}", size[1] ?? ""));
  const enter = text.match(ENTER);
  if (enter) return (words[`Press {key} to ${enter[2]}`] ?? text).replace("{key}", enter[1] ?? "");
  return text;
}

/** @param {Node} place */
function translateTexts(place) {
  const walker = document.createTreeWalker(place, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.nodeValue ?? "";
    const said = translate(text);
    if (said !== text) walker.currentNode.nodeValue = said;
  }
}

/** @param {Element} element */
function translateName(element) {
  const name = element.getAttribute("aria-label") ?? "";
  const removed = element.closest('[data-testid="stMultiSelect"]') ? name.match(REMOVE) : null;
  const said = removed ? (words["Remove {option}"] ?? name).replace("{option}", removed[1] ?? "") : translate(name);
  if (said !== name) element.setAttribute("aria-label", said);
}

/** @param {Element} element */
function translateHint(element) {
  const hint = element.getAttribute("placeholder") ?? "";
  const said = translate(hint);
  if (said !== hint) element.setAttribute("placeholder", said);
}

function translatePage() {
  planned = false;
  document.querySelectorAll(TEXTS).forEach(translateTexts);
  document.querySelectorAll(NAMED).forEach(translateName);
  document.querySelectorAll(HINTED).forEach(translateHint);
}

function plan() {
  if (planned) return;
  planned = true;
  requestAnimationFrame(translatePage);
}

/**
 * Return whether a change may have brought words of Streamlit's. What only counts on, as a clock or progress does, has not.
 * @param {MutationRecord} change
 */
function matters({ type, target, addedNodes }) {
  if (type === "attributes") return true;
  if (type === "childList" && [...addedNodes].some((node) => node instanceof Element)) return true;
  const element = target instanceof Element ? target : target.parentElement;
  return addedNodes.length + Number(type === "characterData") > 0 && Boolean(element?.closest(TEXTS));
}

/** @param {MutationRecord[]} changes */
function follow(changes) {
  if (!planned && changes.some(matters)) plan();
}

/** @param {{data: {language: string, words: string}}} component */
export default function ({ data }) {
  document.documentElement.lang = data.language;
  words = JSON.parse(data.words);
  if (!observer) {
    observer = new MutationObserver(follow);
    observer.observe(document.body, {
      subtree: true,
      childList: true,
      characterData: true,
      attributeFilter: ["aria-label", "placeholder"],
    });
  }
  plan();
}
