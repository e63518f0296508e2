// How long an item is looked at: time while the page is hidden or paused does not count.

export class Timer {
  constructor() {
    this.counted = 0;
    this.since = null;
    document.addEventListener("visibilitychange", () => (document.hidden ? this.stop() : this.resume()));
    this.wanted = false;
  }

  restart() {
    this.counted = 0;
    this.since = null;
    this.go();
  }

  go() {
    this.wanted = true;
    this.resume();
  }

  pause() {
    this.stop();
    this.wanted = false;
  }

  resume() {
    if (this.wanted && this.since === null && !document.hidden) this.since = performance.now();
  }

  stop() {
    if (this.since !== null) this.counted += performance.now() - this.since;
    this.since = null;
  }

  seconds() {
    return (this.counted + (this.since === null ? 0 : performance.now() - this.since)) / 1000;
  }
}
