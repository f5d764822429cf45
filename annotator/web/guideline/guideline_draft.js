// Keeps a lead's unpublished draft of the guideline in this browser, letter by letter: a reload, a crash or a lost
// session loses nothing. What the page holds comes in `data`; a draft it does not know is handed back to it, and nothing
// is written or thrown away here before it says that it has heard.

/** @typedef {Record<string, string>} Fields */

/**
 * What the page says of the draft.
 * @typedef {object} DraftMessage
 * @property {string} store the key under which the draft is stored
 * @property {string} prefix of the keys of its fields
 * @property {string} session
 * @property {boolean} heard whether the page has taken what was handed back
 * @property {string} mark names the fields that are on the screen
 * @property {number} base the version that the draft began with
 * @property {Fields} all what every field holds
 * @property {Fields | null} fields what is typed; null if nothing is
 */

/** @type {Set<string>} the pages for which the storage was read */
const readPages = new Set();
/** @type {Set<string>} the pages that have not heard yet of what was stored */
const waitingPages = new Set();
/** @type {Set<string>} the keys under which something is stored */
const stored = new Set();
/** @type {Map<string, string>} what is typed and the page does not hold yet, by field */
const typed = new Map();
let shownMark = "";

/** @param {string} store */
const read = (store) => {
  try { return localStorage.getItem(store); } catch { return null; }
};

/**
 * @param {string} store
 * @param {{ base: number, fields: Fields } | null} draft
 */
const write = (store, draft) => {
  try {
    if (draft) localStorage.setItem(store, JSON.stringify({ ...draft, at: new Date().toISOString() }));
    else localStorage.removeItem(store);
  } catch { /* no storage: then the draft lives as long as the page */ }
};

/** @param {{ data: { message: string }, setTriggerValue: (name: string, value: string | null) => void }} component */
export default function ({ data, setTriggerValue }) {
  /** @type {DraftMessage} */
  const message = JSON.parse(data.message);
  const { store, base, mark } = message;
  const page = `${store} ${message.session}`;
  if (!readPages.has(page)) {
    readPages.add(page);
    if (!message.fields && read(store)) {
      stored.add(store);
      waitingPages.add(page);
    }
  }
  if (message.heard) waitingPages.delete(page);
  if (waitingPages.has(page)) {
    setTriggerValue("found", read(store));
    return undefined;
  }
  if (shownMark !== mark) typed.clear();
  shownMark = mark;
  for (const [field, text] of typed) if (message.all[field] === text) typed.delete(field);
  const keep = () => {
    write(store, { base, fields: { ...message.all, ...Object.fromEntries(typed) } });
    stored.add(store);
  };
  if (message.fields || typed.size) keep();
  else if (stored.has(store)) {
    write(store, null);
    stored.delete(store);
  }

  const fieldPrefix = `st-key-${message.prefix}${mark}_`;
  /** @param {Event} event */
  const noticeInput = (event) => {
    const { target } = event;
    if (!(target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement)) return;
    const container = target.closest(`[class*="${fieldPrefix}"]`);
    const className = [...(container?.classList ?? [])].find((name) => name.startsWith(fieldPrefix));
    if (!className || className === fieldPrefix) return;
    typed.set(className.slice(fieldPrefix.length), target.value);
    keep();
  };
  document.addEventListener("input", noticeInput);
  return () => document.removeEventListener("input", noticeInput);
}
