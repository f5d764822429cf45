// Keeps every press in the browser's storage until the server has acknowledged it: one key per event, tagged
// with the annotator and the dataset, in the order in which they were pressed. Survives a reload, a crash, a
// closed tab; shared by the tabs of one browser, which is harmless because every event has an id of its own.

const MOST_EVENTS = 100, MOST_CHARACTERS = 500000;  // of up to three bytes each: the server takes 2 MB

class Outbox {
  constructor(username, dataset) {
    this.prefix = `${Outbox.of(username)}${encodeURIComponent(dataset)}/`;
    this.browserKey = `annotator/browser/${encodeURIComponent(username)}`;
    this.refusedKey = `annotator/refused/${encodeURIComponent(username)}/${encodeURIComponent(dataset)}`;
    this.last = 0;
    this.astray = 0;
  }

  static of(username) { return `annotator/outbox/${encodeURIComponent(username)}/`; }

  // The datasets for which something of this annotator waits in this browser.
  static datasets(username) {
    const found = storedKeys(Outbox.of(username)).map((key) => key.slice(Outbox.of(username).length).split("/")[0]);
    return [...new Set(found)].map(decodeURIComponent);
  }

  // This computer's clock may be wrong, or be set while somebody labels: the server's counts. (Its header knows whole
  // seconds only, so a clock that is right is left alone.)
  hearClock(date) {
    const astray = Date.parse(date) + 500 - Date.now();
    if (!Number.isNaN(astray)) this.astray = Math.abs(astray) > 3000 ? astray : 0;
  }

  now() { return Date.now() + this.astray; }

  // The time of a press, always later than that of the press before.
  pressTime() {
    this.last = Math.max(this.now(), this.last + 1);
    return this.last;
  }

  // The name of this browser, which this annotator alone has, and the number of the next press in it: higher than that of
  // every press before, whatever the clocks said then, in all tabs and after every reload. By these the server knows an
  // older press that arrives late from a newer one; between two browsers it goes by what it received first.
  takeNumber() {
    const kept = this.read(this.browserKey);
    const browser = kept?.browser ?? newId(), number = Math.max(Math.round(this.now()), (kept?.number ?? 0) + 1);
    localStorage.setItem(this.browserKey, JSON.stringify({ browser, number }));
    return { browser, browser_number: number };
  }

  // Whether this browser keeps anything at all. Asked before the first press.
  works() {
    try {
      localStorage.setItem("annotator/probe", "1");
      localStorage.removeItem("annotator/probe");
      return true;
    } catch { return false; }
  }

  // What the server refused, until its annotator has seen it: with the note, which would be lost otherwise.
  listRefused() { return this.read(this.refusedKey) ?? []; }

  keepRefused(events) {
    try { events.length ? localStorage.setItem(this.refusedKey, JSON.stringify(events)) : localStorage.removeItem(this.refusedKey); } catch { /* they stay on the screen */ }
  }

  // Throws when the browser refuses to store (full, or storage forbidden): then nothing was pressed.
  put(event) {
    Object.assign(event, this.takeNumber());
    localStorage.setItem(this.keyOf(event), JSON.stringify(event));
  }

  // In the order of the presses; a panel of an older version did not number them.
  keyOf(event) {
    const place = event.browser_number ?? Date.parse(event.pressed_at);
    return `${this.prefix}${place.toString().padStart(16, "0")}-${event.id}`;
  }

  list() {
    return storedKeys(this.prefix).map((key) => this.read(key)).filter(Boolean);
  }

  // The oldest presses, as many as one request may carry: a hundred long notes are more than the server takes at once.
  batch(most = MOST_EVENTS) {
    let room = MOST_CHARACTERS;
    return this.list().slice(0, most).filter((event, at) => { room -= JSON.stringify(event).length; return !at || room > 0; });
  }

  read(key) {
    try { return JSON.parse(localStorage.getItem(key)); } catch { return null; }
  }

  remove(ids) {
    const gone = new Set(ids);
    for (const event of this.list())
      if (gone.has(event.id)) localStorage.removeItem(this.keyOf(event));
  }

  // Whether a storage event tells of a press in another tab of the same annotator; returns that press.
  pressedElsewhere(change) {
    return change.key?.startsWith(this.prefix) && change.newValue ? this.read(change.key) : null;
  }
}

function storedKeys(prefix) {
  try { return Object.keys(localStorage).filter((key) => key.startsWith(prefix)).sort(); } catch { return []; }
}

// One attempt to hand in what waits for datasets whose panel is not open (`open`: the one that is, or null). What is
// refused stays, to be said when that panel is opened. Resolves to whether nothing is left to try.
async function handInOthers(username, open) {
  let all = true;
  for (const dataset of Outbox.datasets(username).filter((name) => name !== open)) {
    const box = new Outbox(username, dataset);
    const body = JSON.stringify({ dataset, annotator: username, events: box.batch(), have: [], want: 0 });
    try {
      const answer = await fetch("/api/judgments", {
        method: "POST", credentials: "same-origin", headers: { "Content-Type": "application/json" }, body,
      });
      if (answer.ok) box.remove((await answer.json()).acknowledged);
    } catch { /* tried again later */ }
    all &&= !box.list().length;
  }
  return all;
}

// The note being typed for a pair, so that a reload does not lose it.
class Drafts {
  constructor(username, dataset) {
    this.prefix = `annotator/note/${encodeURIComponent(username)}/${encodeURIComponent(dataset)}/`;
  }
  read(pair) { try { return localStorage.getItem(this.prefix + pair) ?? ""; } catch { return ""; } }
  write(pair, note) {
    try { note ? localStorage.setItem(this.prefix + pair, note) : localStorage.removeItem(this.prefix + pair); } catch { /* the note stays on the screen */ }
  }
}

// The keys of the pairs answered last in this tab, so that one can go back also after a reload.
class Trail {
  constructor(username, dataset) { this.key = `annotator/trail/${username}/${dataset}`; }
  list() { try { return JSON.parse(sessionStorage.getItem(this.key)) ?? []; } catch { return []; } }
  write(keys) { try { sessionStorage.setItem(this.key, JSON.stringify(keys.slice(-50))); } catch { /* one goes back as far as this page knows */ } }
}
