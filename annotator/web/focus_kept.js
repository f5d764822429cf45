// What somebody pressed may be gone when the page has been drawn again. Then the focus goes to the beginning of what there
// is to do next, rather than to nowhere. `data` names the press, each is followed once; then "top" if it led to another page,
// which is shown from its top; then the container that shows what came of it, if there is one.
const TRIES = 30, PAUSE = 100;
let followed = null;

export default function ({ data }) {
  if (!data || data === followed) return;
  followed = data;
  let left = TRIES;
  const [, top, shown] = data.split(" ");
  if (top) document.querySelector('[data-testid="stMain"]')?.scrollTo({ top: 0, behavior: "instant" });
  const follow = () => {
    const focused = document.activeElement;
    if (focused && focused !== document.body) return void (left-- > 0 && setTimeout(follow, PAUSE));
    const main = document.querySelector('[data-testid="stMain"]');
    const place = (shown && main?.querySelector(`.st-key-${CSS.escape(shown)}`)) || main?.querySelector("h2") || main?.querySelector("h1");
    if (!place) return;
    place.setAttribute("tabindex", "-1");
    place.focus({ preventScroll: true });
  };
  requestAnimationFrame(follow);
}
