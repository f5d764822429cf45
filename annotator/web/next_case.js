// After a decision the next case comes: bring its beginning to the top of the window. `data` is its pair, once.
let shown = null;

export default function ({ data }) {
  if (!data || data === shown) return;
  shown = data;
  requestAnimationFrame(() => {
    const top = document.querySelector(".annotator-query")?.closest('[data-testid="stHorizontalBlock"]');
    if (!top) return;
    top.style.scrollMarginTop = "4rem";
    top.scrollIntoView({ block: "start" });
  });
}
