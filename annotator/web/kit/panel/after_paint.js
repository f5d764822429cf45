// Does what can wait until the next pair is on the screen. Only for what may be late or happen never: a press is stored before.

const LONGEST_WAIT_MS = 100;  // a tab that nobody sees paints nothing

/** @type {(() => void)[]} */
let works = [];
const painted = new MessageChannel();
painted.port1.onmessage = runWorks;

/**
 * Call `work` once the next frame is painted, after what was given before it.
 * @param {() => void} work
 */
export function runAfterPaint(work) {
  if (works.push(work) > 1) return;
  requestAnimationFrame(() => painted.port2.postMessage(null));
  setTimeout(runWorks, LONGEST_WAIT_MS);
}

function runWorks() {
  const due = works;
  works = [];
  for (const work of due) try { work(); } catch (error) { reportError(error); }
}
