// The sidebar and the account menu: links follow the chosen dataset, focus goes where the reader has opened something,
// and whether the sidebar is open is remembered for all pages but those to judge and to decide on, where it always begins closed.
// On a narrow screen the sidebar covers the page: choosing a link closes it, as Streamlit's own navigation does.

const NARROW = "(max-width: 768px)";
const CLOSED = "annotator-sidebar-closed";
const STREAMLITS = "stSidebarCollapsed-"; // its own memory, one for all pages
const COLLAPSE = '[data-testid="stSidebarCollapseButton"] button';
const EXPAND = '[data-testid="stExpandSidebarButton"]';
const ACCOUNT = '.st-key-annotator-account [data-testid="stPopoverButton"]';
const MENU = '[data-testid="stPopoverBody"]';
const CAN_FOCUS = "a[href], button, input, [tabindex='0']";
const PATIENCE = 40; // frames

/** @typedef {{account: string, open: string, close: string, reading: boolean, page: string}} Words */

/** @param {string} address */
const findDataset = (address) => new URL(address).searchParams.get("dataset");

/**
 * Return the element that was clicked, or that holds it.
 * @param {Event} event
 * @param {string} selector
 */
const findClicked = (event, selector) => (event.target instanceof Element ? event.target.closest(selector) : null);

/**
 * Return what is drawn, as an element that can be focused and clicked.
 * @param {string} selector
 */
const find = (selector) => {
  const element = document.querySelector(selector);
  return element instanceof HTMLElement ? element : null;
};

/**
 * Act on the element as soon as it is drawn.
 * @param {string} selector
 * @param {(element: HTMLElement) => void} act
 */
function whenDrawn(selector, act, frames = PATIENCE) {
  const element = find(selector);
  if (element) act(element);
  else if (frames > 0) requestAnimationFrame(() => whenDrawn(selector, act, frames - 1));
}

/** @param {Words} words */
function nameButtons(words) {
  find(COLLAPSE)?.setAttribute("aria-label", words.close);
  find(EXPAND)?.setAttribute("aria-label", words.open);
  find(ACCOUNT)?.setAttribute("aria-label", words.account);
}

/** @param {MouseEvent} event */
function followDataset(event) {
  const link = findClicked(event, "a");
  const chosen = findDataset(location.href);
  if (!(link instanceof HTMLAnchorElement) || !chosen || !findDataset(link.href)) return;
  if (findDataset(link.href) === chosen) return;
  const address = new URL(link.href);
  address.searchParams.set("dataset", chosen);
  if (event.ctrlKey || event.metaKey || event.shiftKey) {
    link.href = String(address); // a tab of its own
    return;
  }
  event.preventDefault();
  event.stopPropagation();
  location.assign(address);
}

/** @param {Words} words */
function close(words) {
  find(COLLAPSE)?.click();
  localStorage.removeItem(STREAMLITS);
  whenDrawn(EXPAND, () => nameButtons(words));
}

/** @param {Words} words */
function applyMemory(words) {
  localStorage.removeItem(STREAMLITS);
  if (!words.reading && localStorage.getItem(CLOSED) && !matchMedia(NARROW).matches) close(words);
  whenDrawn(`${COLLAPSE}, ${EXPAND}`, () => nameButtons(words));
}

/**
 * The reader has opened or closed the sidebar.
 * @param {Words} words
 * @param {boolean} opened
 */
function remember(words, opened) {
  if (!words.reading && !matchMedia(NARROW).matches) {
    if (opened) localStorage.removeItem(CLOSED);
    else localStorage.setItem(CLOSED, "1");
  }
  whenDrawn(opened ? COLLAPSE : EXPAND, (button) => {
    localStorage.removeItem(STREAMLITS);
    nameButtons(words);
    button.focus();
  });
}

/**
 * @param {MouseEvent} event
 * @param {Words} words
 */
function follow(event, words) {
  if (event.isTrusted && findClicked(event, COLLAPSE)) remember(words, false);
  if (event.isTrusted && findClicked(event, EXPAND)) remember(words, true);
  if (findClicked(event, ACCOUNT)) {
    whenDrawn(MENU, (menu) => {
      const first = menu.querySelector(CAN_FOCUS);
      if (first instanceof HTMLElement) first.focus();
    });
  }
  const link = findClicked(event, `[data-testid="stSidebar"] a, ${MENU} a`);
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (link.closest(MENU)) setTimeout(() => find(ACCOUNT)?.click());
  else if (matchMedia(NARROW).matches) setTimeout(() => close(words));
}

let isBegun = false;
let wasReading = false;

/** @param {{data: {message: string}}} component */
export default function ({ data }) {
  const words = /** @type {Words} */ (JSON.parse(data.message));
  const listening = new AbortController();
  const { signal } = listening;
  nameButtons(words);
  document.documentElement.classList.toggle("annotator-reading", words.reading);
  document.documentElement.dataset.page = words.page;
  if (!isBegun || wasReading !== words.reading) applyMemory(words);
  isBegun = true;
  wasReading = words.reading;
  addEventListener("resize", () => whenDrawn(`${COLLAPSE}, ${EXPAND}`, () => nameButtons(words)), { signal });
  document.addEventListener("click", followDataset, { capture: true, signal });
  document.addEventListener("click", (event) => follow(event, words), { capture: true, signal });
  return () => listening.abort();
}
