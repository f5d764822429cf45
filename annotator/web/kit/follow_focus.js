// What somebody pressed may be gone when the page has been drawn again. Then the focus goes to the beginning of what there
// is to do next, rather than to nowhere. `data` names the press, each is followed once; then "top" if it led to another page,
// which is shown from its top, or "begin" if
// the window moves to where the result begins; then the container that shows what came of it, if there is one.
// It waits until what was pressed is gone, and holds on for a moment, since a drawing may put another in the focused one's place;
// whoever has gone on meanwhile is left alone.

const TRIES = 100;
const TRIES_AFTER_FOCUS = 20;
const PAUSE_MS = 100;
/** @type {string | null} */
let followed = null;

const findMain = () => document.querySelector('[data-testid="stMain"]');

/**
 * Return whether the focus is nowhere. A click on what takes no focus, the mark of a chart, gives it to the whole page:
 * that is nowhere too.
 * @param {Element | null} focused
 */
const isNowhere = (focused) => !focused || focused === document.body || focused === findMain();

/**
 * Return where the focus belongs.
 * @param {string | undefined} container the key of what came of the press
 * @returns {HTMLElement | null}
 */
const findBeginning = (container) => {
  const main = findMain();
  const element = (container && main?.querySelector(`.st-key-${CSS.escape(container)}`)) || main?.querySelector("h2") || main?.querySelector("h1");
  return element instanceof HTMLElement ? element : null;
};

/** @param {{ data: string | null }} component */
export default function ({ data }) {
  if (!data || data === followed) return;
  followed = data;
  const pressed = document.activeElement, [, place, container] = data.split(" ");
  /** @type {HTMLElement | null} */
  let beginning = null;
  let triesLeft = TRIES;
  if (place === "top") findMain()?.scrollTo({ top: 0, behavior: "instant" });
  const follow = () => {
    const focused = document.activeElement, nowhere = isNowhere(focused);
    if (triesLeft-- <= 0 || followed !== data || !(nowhere || focused === pressed || focused === beginning)) return;
    if (nowhere) beginning = findBeginning(container);
    if (nowhere && beginning) {
      triesLeft = Math.min(triesLeft, TRIES_AFTER_FOCUS);
      beginning.setAttribute("tabindex", "-1");
      beginning.focus({ preventScroll: true });
      beginning.style.scrollMarginTop = "4rem"; // below the account menu
      if (place === "begin") beginning.scrollIntoView({ block: "start", behavior: "instant" });
    }
    setTimeout(follow, PAUSE_MS);
  };
  requestAnimationFrame(follow);
}
