// On the page that asks before a page with grades is opened from elsewhere. Who reloads a page that was open, or goes back to it,
// is not asked: the browser says so, and no link can make it say so. A reload of the question itself asks again. It runs before
// the question is drawn.

const [visit] = performance.getEntriesByType("navigation");
const type = visit instanceof PerformanceNavigationTiming ? visit.type : "navigate";
if (type !== "reload" && type !== "back_forward") history.replaceState({ asked: true }, "");
else if (!history.state?.asked)
  addEventListener("DOMContentLoaded", () => {
    const link = document.querySelector("a.provider");
    if (link instanceof HTMLAnchorElement) link.click();
  });
