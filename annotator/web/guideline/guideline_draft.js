// Keeps a lead's unpublished draft of the guideline in this browser, letter by letter: a reload, a crash or a lost
// session loses nothing. What the page holds comes in `data`; a draft it does not know is handed back to it, and nothing
// is written or thrown away here before it says that it has heard.
const looked = new Set();
const waiting = new Set();
const saved = new Set();
const typing = new Map();
let mark;

const read = (store) => {
  try { return localStorage.getItem(store); } catch { return null; }
};

const write = (store, draft) => {
  try {
    if (draft) localStorage.setItem(store, JSON.stringify({ ...draft, at: new Date().toISOString() }));
    else localStorage.removeItem(store);
  } catch { /* no storage: then the draft lives as long as the page */ }
};

export default function ({ data, setTriggerValue }) {
  const told = JSON.parse(data.told);
  const { store, base } = told;
  const page = `${store} ${told.session}`;
  if (!looked.has(page)) {
    looked.add(page);
    if (!told.fields && read(store)) {
      saved.add(store);
      waiting.add(page);
    }
  }
  if (told.heard) waiting.delete(page);
  if (waiting.has(page)) {
    setTriggerValue("found", read(store));
    return;
  }
  if (mark !== told.mark) typing.clear();
  mark = told.mark;
  for (const [field, text] of typing) if (told.all[field] === text) typing.delete(field);
  const keep = () => {
    write(store, { base, fields: { ...told.all, ...Object.fromEntries(typing) } });
    saved.add(store);
  };
  if (told.fields || typing.size) keep();
  else if (saved.has(store)) {
    write(store, null);
    saved.delete(store);
  }
  const own = `st-key-${told.prefix}${told.mark}_`;
  const heed = (event) => {
    const place = event.target.closest?.(`[class*="${own}"]`);
    const field = [...(place?.classList ?? [])].find((name) => name.startsWith(own))?.slice(own.length);
    if (!field) return;
    typing.set(field, event.target.value);
    keep();
  };
  document.addEventListener("input", heed);
  return () => document.removeEventListener("input", heed);
}
