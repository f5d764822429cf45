// A table whose rows are chosen: see row_table.py. Everything is set as text. Focus stays on the row that was chosen
// while the page is drawn again, and what the choice shows is brought into the window when it is there. Whoever comes back
// from the page that a row leads to is at that row again.

const tables = new WeakMap();
const PATIENCE = 40, PAUSE_MS = 75, LONG = 12, BRIEF = 9, NARROW = "(max-width: 640px)";
const LEFT_BY = "annotator row left by";

const note = (key) => {
  try { sessionStorage.setItem(LEFT_BY, key); } catch { /* no storage: whoever comes back begins at the top */ }
};

const takeNote = () => {
  try {
    const key = sessionStorage.getItem(LEFT_BY);
    sessionStorage.removeItem(LEFT_BY);
    return key;
  } catch { return null; }
};

export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".rows");
  const told = JSON.parse(data.told);
  const known = tables.get(root) ?? { told: null, asked: null };
  tables.set(root, known);
  known.choose = (key) => {
    known.asked = key;
    mark(root, key);
    if (told.links.length) note(key);
    setTriggerValue("chosen", key);
    if (key === known.chosen) bring(known, key);
  };
  if (known.told !== data.told) {
    const focused = root.getRootNode().activeElement?.closest?.("tr")?.dataset.key;
    draw(root, told, known);
    if (focused !== undefined) buttons(root).find((one) => one.closest("tr").dataset.key === focused)?.focus();
    if (known.told === null && told.links.length) comeBack(root);
    Object.assign(known, { told: data.told, leadsTo: told.leadsTo, chosen: told.chosen });
  }
  if (known.asked !== null && known.asked === told.chosen) bring(known, told.chosen);
}

function draw(root, told, known) {
  root.setAttribute("aria-label", told.caption);
  root.toggleAttribute("data-tall", told.tall);
  const table = make("table");
  table.setAttribute("role", "table");  // the roles hold where a narrow screen sets rows as blocks
  table.append(make("caption", told.caption));
  const head = make("tr");
  const kinds = told.columns.map((_, at) => kindOf(told.rows.map((row) => row.cells[at])));
  told.columns.forEach((name, at) => {
    const cell = make("th", name, kinds[at]);
    cell.scope = "col";
    cell.setAttribute("role", "columnheader");
    head.append(cell);
  });
  const top = make("thead"), body = make("tbody");
  for (const part of [top, body]) part.setAttribute("role", "rowgroup");
  top.append(head);
  told.rows.forEach((row, at) => body.append(drawRow(row, told, kinds, told.links[at])));
  table.append(top, body);
  body.addEventListener("click", (event) => {
    const row = event.target.closest("tr"), link = event.target.closest("a");
    if (link && (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)) return;  // another tab, by the browser
    if (link) event.preventDefault();
    if (row && (link || !getSelection()?.toString())) known.choose(row.dataset.key);
  });
  body.addEventListener("keydown", (event) => step(event, root));
  root.replaceChildren(table);
  mark(root, told.chosen);
}

function drawRow(row, told, kinds, link) {
  const line = make("tr");
  line.setAttribute("role", "row");
  line.dataset.key = row.key;
  row.cells.forEach((text, at) => {
    const cell = make(at === told.button ? "th" : "td", at === told.button ? null : text, kinds[at]);
    cell.dir = "auto";
    cell.dataset.name = told.columns[at];
    cell.setAttribute("role", at === told.button ? "rowheader" : "cell");
    if (at === told.button) {
      cell.scope = "row";
      const button = make(link ? "a" : "button", text);
      if (link) button.href = link;
      else button.type = "button";
      cell.append(button);
    }
    line.append(cell);
  });
  return line;
}

function make(kind, text = null, name = "") {
  const made = document.createElement(kind);
  const [first, ...parts] = (text ?? "").split(/(?<=[_/])/);  // where an identifier may be broken
  if (first) made.append(first, ...parts.flatMap((part) => [document.createElement("wbr"), part]));
  if (name) made.className = name;
  return made;
}

// How a column is set: figures to the right; days and several grades in one line; where there is a long word, it may be
// broken anywhere.
function kindOf(texts) {
  if (texts.every((text) => /^[\d,.–…]*$/.test(text))) return "number";
  if (texts.every((text) => text.length <= BRIEF && /\d/.test(text))) return "brief";
  return texts.some((text) => text.split(/\s+/).some((word) => word.length > LONG)) ? "long" : "";
}

function buttons(root) { return [...root.querySelectorAll("tbody :is(button, a)")]; }

function mark(root, key) {
  for (const button of buttons(root)) {
    const row = button.closest("tr"), chosen = row.dataset.key === key;
    row.toggleAttribute("data-chosen", chosen);
    if (chosen) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
}

function comeBack(root) {
  const left = takeNote(), link = buttons(root).find((one) => one.closest("tr").dataset.key === left);
  if (!link) return;
  link.focus({ preventScroll: true });
  link.closest("tr").scrollIntoView({ block: "center" });
}

function step(event, root) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!by || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const all = buttons(root), next = all[all.indexOf(event.target) + by];
  if (!next) return;
  event.preventDefault();
  next.focus();
  next.closest("tr").scrollIntoView({ block: "nearest" });
}

// Streamlit draws the rest of the page after this: wait for the place that bears the chosen key.
function bring(known, key, left = PATIENCE) {
  known.asked = null;
  if (!known.leadsTo) return;
  const place = [...document.querySelectorAll(known.leadsTo)].find((one) => one.dataset.key === key);
  if (place) place.scrollIntoView({ block: matchMedia(NARROW).matches ? "start" : "nearest" });
  else if (left) setTimeout(() => bring(known, key, left - 1), PAUSE_MS);
}
