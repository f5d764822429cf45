// What somebody pressed may be gone when the page has been drawn again. Then the focus goes to the beginning of what there
// is to do next, rather than to nowhere. `data` names the press, each is followed once; then "top" if it led to another page,
// which is shown from its top; then the container that shows what came of it, if there is one.
// It waits until what was pressed is gone, and holds on for a moment, since a drawing may put another in the focused one's place;
// whoever has gone on meanwhile is left alone.
const TRIES = 100, HELD = 20, PAUSE = 100;
let followed = null;

const findMain = () => document.querySelector('[data-testid="stMain"]');

// A click on what takes no focus, the mark of a chart, gives it to the whole page: that is nowhere too.
const isNowhere = (focused) => !focused || focused === document.body || focused === findMain();

const find = (shown) => {
  const main = findMain();
  return (shown && main?.querySelector(`.st-key-${CSS.escape(shown)}`)) || main?.querySelector("h2") || main?.querySelector("h1");
};

export default function ({ data }) {
  if (!data || data === followed) return;
  followed = data;
  const pressed = document.activeElement, [, top, shown] = data.split(" ");
  let left = TRIES, place = null;
  if (top) findMain()?.scrollTo({ top: 0, behavior: "instant" });
  const follow = () => {
    const focused = document.activeElement, nowhere = isNowhere(focused);
    if (left-- <= 0 || followed !== data || !(nowhere || focused === pressed || focused === place)) return;
    if (nowhere && (place = find(shown))) {
      left = Math.min(left, HELD);
      place.setAttribute("tabindex", "-1");
      place.focus({ preventScroll: true });
    }
    setTimeout(follow, PAUSE);
  };
  requestAnimationFrame(follow);
}
