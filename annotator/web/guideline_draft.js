// Keeps a lead's unpublished draft of the guideline in this browser, letter by letter: a reload, a crash or a lost
// session loses nothing. What the page holds comes in `data`; a draft it does not know is handed back to it, once.
const looked = new Set();
const saved = new Set();
const typing = new Map();

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
  const { store, prefix, base } = told;
  const page = `${store} ${told.session}`;
  if (!looked.has(page)) {
    looked.add(page);
    const found = told.fields ? null : read(store);
    if (found) {
      saved.add(store);
      setTriggerValue("found", found);
      return;
    }
  }
  if (typing.get("set") !== told.set) typing.clear();
  typing.set("set", told.set);
  for (const [field, text] of typing) if (told.all[field] === text) typing.delete(field);
  const typed = Object.fromEntries([...typing].filter(([field]) => field !== "set"));
  if (told.fields || Object.keys(typed).length) {
    write(store, { base, fields: { ...told.all, ...typed } });
    saved.add(store);
  } else if (saved.has(store)) {
    write(store, null);
    saved.delete(store);
  }
  const heed = (e) => {
    const place = [...(e.target.closest?.(`[class*="st-key-${prefix}"]`)?.classList ?? [])]
      .find((name) => name.startsWith(`st-key-${prefix}`));
    if (!place) return;
    typing.set(place.slice(`st-key-${prefix}`.length), e.target.value);
    const now = Object.fromEntries([...typing].filter(([field]) => field !== "set"));
    write(store, { base, fields: { ...told.all, ...now } });
    saved.add(store);
  };
  document.addEventListener("input", heed);
  return () => document.removeEventListener("input", heed);
}
