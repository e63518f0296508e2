// Which token is asked about, shared by the views of one head: pointed at for the moment, or locked by a click until released.

export class Focus {
  constructor() {
    this.pointed = null;
    this.locked = null;
    this.listeners = [];
  }

  // {side: "query" | "key", at}, or null
  get now() {
    return this.pointed ?? this.locked;
  }

  listen(changed) {
    this.listeners.push(changed);
  }

  tell() {
    this.listeners.forEach((changed) => changed(this.now, this.locked));
  }

  point(side, at) {
    if (this.pointed?.side === side && this.pointed.at === at) return;
    this.pointed = { side, at };
    this.tell();
  }

  leave() {
    if (!this.pointed) return;
    this.pointed = null;
    this.tell();
  }

  lock(side, at) {
    const again = this.locked?.side === side && this.locked.at === at;
    this.locked = again ? null : { side, at };
    this.pointed = null;
    this.tell();
  }

  release() {
    this.locked = this.pointed = null;
    this.tell();
  }
}

export const same = (one, side, at) => one !== null && one.side === side && one.at === at;
