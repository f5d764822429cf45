// Measures active time: it counts while the page is visible, has the focus, and somebody did something within the last
// `idleSeconds`. Any key, pointer or scroll is doing something.

/** @type {(keyof DocumentEventMap)[]} */
const SIGNS_OF_ACTIVITY = ["keydown", "pointerdown", "pointermove", "wheel", "scroll", "touchstart", "input"];

export class ActiveTime {
  /** @param {number} idleSeconds */
  constructor(idleSeconds) {
    this.idleMs = idleSeconds * 1000;
    this.totalMs = 0;
    this.lastActivity = 0;
    /** @type {number | null} since when the time is not counted yet; null while nobody is there */
    this.since = null;
  }

  /** @param {AbortSignal} signal */
  listen(signal) {
    const notice = () => this.noticeActivity();
    for (const name of SIGNS_OF_ACTIVITY) document.addEventListener(name, notice, { capture: true, passive: true, signal });
    document.addEventListener("visibilitychange", notice, { signal });
    window.addEventListener("focus", notice, { signal });
    window.addEventListener("blur", notice, { signal });
  }

  /** Begin at zero: another pair is on the screen. */
  begin() {
    this.totalMs = 0;
    this.lastActivity = performance.now();
    this.since = isPageInUse() ? this.lastActivity : null;
  }

  noticeActivity() {
    this.count();
    this.lastActivity = performance.now();
    this.since = isPageInUse() ? this.lastActivity : null;
  }

  count() {
    if (this.since === null) return;
    const until = Math.min(performance.now(), this.lastActivity + this.idleMs);
    this.totalMs += Math.max(0, until - this.since);
    this.since = Math.max(this.since, until);
  }

  /** Return the seconds so far, with one decimal. */
  read() {
    this.count();
    return Math.round(this.totalMs / 100) / 10;
  }
}

function isPageInUse() { return document.visibilityState === "visible" && document.hasFocus(); }
