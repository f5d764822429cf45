// Asks for the first pairs while the page is still loading, so that the panel has them as soon as it is there.
// It is no module: the start page (web/server/start_page.py) runs it inline before all else, and says for whom in a <meta>.
// `first_answer.js` takes what it gets. The request is the one that the panel would make itself: the same tab, the same leases.

(() => {
  const told = document.querySelector("meta[name='annotator-label']");
  if (!(told instanceof HTMLMetaElement)) return;
  const { dataset, annotator } = JSON.parse(told.content);
  let tab, shown;
  try {
    shown = sessionStorage.getItem("annotator/shown");
    tab = sessionStorage.getItem("annotator/tab") ?? crypto.randomUUID();
    sessionStorage.setItem("annotator/tab", tab);
  } catch { return; }  // then the panel asks by itself
  // After a reload as many as can be had: the pair that was on the screen is among them, and comes first.
  const body = JSON.stringify({ dataset, annotator, tab, events: [], have: [], want: shown ? 50 : 20 });
  const response = fetch("/api/judgments", {
    method: "POST", credentials: "same-origin", headers: { "Content-Type": "application/json" }, body, signal: AbortSignal.timeout(20000),
  });
  const first = { dataset, annotator, tab, askedAt: Date.now(), response, rendering: null };
  Object.assign(window, { annotatorFirst: first });
  response.then((answer) => (answer.ok ? answer.clone().json() : null)).then((answer) => {
    const pairs = answer?.pairs ?? [], pair = pairs.find((/** @type {any} */ found) => found.pair === shown) ?? pairs[0];
    if (!pair?.document.text) return;
    const address = `/api/rendering?dataset=${encodeURIComponent(dataset)}&pair=${encodeURIComponent(pair.pair)}`;
    const rendering = fetch(address, { credentials: "same-origin", signal: AbortSignal.timeout(10000) });
    rendering.catch(() => {});
    Object.assign(first, { rendering: { address, response: rendering } });
  }).catch(() => {});
})();
