// What a lead has decided and the server has not acknowledged yet, and what is typed for a pair: both are kept in this
// browser's storage, under keys that name the lead, so that a reload, a crash or a server that is away loses nothing.

class Unsent {
  constructor(username) {
    this.prefix = `annotator/decisions/${encodeURIComponent(username)}/`;
    this.last = 0;
  }

  // Throws when the browser refuses to store: then nothing was decided.
  put(entry) {
    this.last = Math.max(Date.now(), this.last + 1);
    entry.pressed_at = this.last;
    localStorage.setItem(this.keyOf(entry), JSON.stringify(entry));
  }

  keyOf({ pressed_at, id }) { return `${this.prefix}${String(pressed_at).padStart(16, "0")}-${id}`; }

  list() { return keysFrom(this.prefix).map(readKept).filter(Boolean); }

  has(pair) { return this.list().some((entry) => entry.pair === pair); }

  remove(entry) { try { localStorage.removeItem(this.keyOf(entry)); } catch { /* it is sent once more, and the server knows it */ } }
}

// What is chosen and typed for a pair, also what was refused: {decided, rationale, cause, in_guideline, refused, before}.
class Typed {
  constructor(username, dataset) { this.prefix = `annotator/deciding/${encodeURIComponent(username)}/${encodeURIComponent(dataset)}/`; }

  read(pair) { return readKept(this.prefix + pair); }

  write(pair, typed) {
    try { typed ? localStorage.setItem(this.prefix + pair, JSON.stringify(typed)) : localStorage.removeItem(this.prefix + pair); } catch { /* it stays on the screen */ }
  }

  // A refusal that somebody has seen and left at that: it does not come back, what was chosen and written stays.
  acceptRefusal(pair) {
    const { refused, before: _before, ...typed } = this.read(pair) ?? {};
    if (refused) this.write(pair, typed);
  }

  listRefused() { return keysFrom(this.prefix).filter((key) => readKept(key)?.refused).map((key) => key.slice(this.prefix.length)); }
}

// The pairs decided last in this tab, so that one can go back also after a reload.
class Behind {
  constructor(username, dataset) { this.key = `annotator/behind/${username}/${dataset}`; }

  list() { try { return JSON.parse(sessionStorage.getItem(this.key)) ?? []; } catch { return []; } }

  push(pair) { this.write([...this.list().filter((one) => one !== pair), pair]); }

  pop() {
    const pairs = this.list(), last = pairs.pop() ?? null;
    this.write(pairs);
    return last;
  }

  write(pairs) { try { sessionStorage.setItem(this.key, JSON.stringify(pairs.slice(-50))); } catch { /* one goes back as far as this page knows */ } }
}

function keysFrom(prefix) {
  try { return Object.keys(localStorage).filter((key) => key.startsWith(prefix)).sort(); } catch { return []; }
}

function readKept(key) { try { return JSON.parse(localStorage.getItem(key)); } catch { return null; } }
