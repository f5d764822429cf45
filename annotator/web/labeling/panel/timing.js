// Active time: counts while the page is visible, has the focus, and somebody did something within the last
// `idleSeconds`. Any key, pointer or scroll is doing something.

const SIGNS = ["keydown", "pointerdown", "pointermove", "wheel", "scroll", "touchstart", "input"];

class ActiveTime {
  constructor(idleSeconds) {
    Object.assign(this, { idle: idleSeconds * 1000, total: 0, since: null, stirred: 0 });
  }

  listen(on) {
    for (const name of SIGNS) on(document, name, () => this.stir(), { capture: true, passive: true });
    on(document, "visibilitychange", () => this.look());
    on(window, "focus", () => this.look());
    on(window, "blur", () => this.look());
  }

  // A new pair is on the screen.
  begin() {
    this.total = 0;
    this.stirred = performance.now();
    this.since = this.isAwake() ? this.stirred : null;
  }

  isAwake() { return document.visibilityState === "visible" && document.hasFocus(); }

  stir() {
    this.count();
    this.stirred = performance.now();
    this.since = this.isAwake() ? this.stirred : null;
  }

  look() { this.stir(); }

  count() {
    if (this.since === null) return;
    const until = Math.min(performance.now(), this.stirred + this.idle);
    this.total += Math.max(0, until - this.since);
    this.since = Math.max(this.since, until);
  }

  // Seconds so far, with one decimal.
  read() {
    this.count();
    return Math.round(this.total / 100) / 10;
  }
}
