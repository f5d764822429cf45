// A table whose rows are chosen: see components.py. Everything is set as text. Focus stays on the row that was chosen
// while the page is drawn again, and what the choice shows is brought into the window when it is there. Whoever comes back
// from the page that a row leads to is at that row again.

const TRIES = 40;
const PAUSE_MS = 75;
const LONG_WORD = 12;
const BRIEF_TEXT = 9;
const LONGEST_NAME = 24;
const NARROW = "(max-width: 640px)";
const LEFT_BY = "annotator row left by";

/**
 * @typedef {object} TableMessage
 * @property {string} caption
 * @property {string[]} columns
 * @property {number} button the column that names a row
 * @property {string | null} chosen the key of a row
 * @property {string} leadsTo the selector of what a choice shows
 * @property {string[]} links the addresses of what the rows show
 * @property {string[]} groups the heading that each row belongs under, or nothing
 * @property {boolean} tall
 * @property {{ key: string, cells: string[] }[]} rows
 */

/**
 * What is kept of a table from one drawing of the page to the next.
 * @typedef {object} TableState
 * @property {string | null} drawn the message that is on the screen
 * @property {string | null} asked the row that was chosen here, until the page shows it
 * @property {string | null} chosen
 * @property {string} leadsTo
 * @property {(key: string) => void} choose
 */

/** @type {WeakMap<HTMLElement, TableState>} */
const tables = new WeakMap();

/** @param {string} key */
const noteLeaving = (key) => {
  try { sessionStorage.setItem(LEFT_BY, key); } catch { /* no storage: whoever comes back begins at the top */ }
};

const takeNote = () => {
  try {
    const key = sessionStorage.getItem(LEFT_BY);
    sessionStorage.removeItem(LEFT_BY);
    return key;
  } catch { return null; }
};

/** @param {{ data: { message: string }, parentElement: ParentNode, setTriggerValue: (name: string, value: string) => void }} component */
export default function ({ data, parentElement, setTriggerValue }) {
  const root = parentElement.querySelector(".rows");
  if (!(root instanceof HTMLElement)) return;
  /** @type {TableMessage} */
  const message = JSON.parse(data.message);
  /** @type {TableState} */
  const state = tables.get(root) ?? { drawn: null, asked: null, chosen: null, leadsTo: "", choose: () => {} };
  tables.set(root, state);
  state.choose = (key) => {
    state.asked = key;
    markChosen(root, key);
    if (message.links.length) noteLeaving(key);
    setTriggerValue("chosen", key);
    if (key === state.chosen) bringToWindow(state, key);
  };
  if (state.drawn !== data.message) {
    const focusedKey = findFocusedRow(root);
    draw(root, message, state);
    if (focusedKey !== undefined) findControl(root, focusedKey)?.focus();
    if (state.drawn === null && message.links.length) comeBack(root);
    state.drawn = data.message;
    state.leadsTo = message.leadsTo;
    state.chosen = message.chosen;
  }
  if (state.asked !== null && state.asked === message.chosen) bringToWindow(state, state.asked);
}

/**
 * @param {HTMLElement} root
 * @param {TableMessage} message
 * @param {TableState} state
 */
function draw(root, message, state) {
  root.setAttribute("aria-label", message.caption);
  root.toggleAttribute("data-tall", message.tall);
  const table = make("table");
  table.setAttribute("role", "table");  // the roles hold where a narrow screen sets rows as blocks
  table.append(make("caption", message.caption));
  const head = make("tr");
  const kinds = message.columns.map((_, i) => chooseKind(message.rows.map((row) => row.cells[i])));
  message.columns.forEach((name, i) => {
    const cell = make("th", name, kinds[i]);
    cell.scope = "col";
    cell.setAttribute("role", "columnheader");
    head.append(cell);
  });
  const top = make("thead"), body = make("tbody");
  for (const part of [top, body]) part.setAttribute("role", "rowgroup");
  top.append(head);
  message.rows.forEach((row, i) => {
    const group = message.groups[i];
    if (group !== undefined && group !== message.groups[i - 1]) body.append(drawGroup(group, message.columns.length));
    body.append(drawRow(row, message, kinds, message.links[i]));
  });
  table.append(top, body);
  body.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const key = target?.closest("tr")?.dataset.key, link = target?.closest("a");
    if (link && (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey)) return;  // another tab, by the browser
    if (link) event.preventDefault();
    if (key !== undefined && (link || !getSelection()?.toString())) state.choose(key);
  });
  body.addEventListener("keydown", (event) => moveByKey(event, root));
  root.replaceChildren(table);
  markChosen(root, message.chosen);
}

/**
 * Return the row that names those below it.
 * @param {string} group
 * @param {number} columns
 */
function drawGroup(group, columns) {
  const line = make("tr", "", "group"), cell = make("th", group);
  line.setAttribute("role", "row");
  cell.setAttribute("role", "rowheader");
  cell.scope = "colgroup";
  cell.colSpan = columns;
  cell.dir = "auto";
  line.append(cell);
  return line;
}

/**
 * @param {{ key: string, cells: string[] }} row
 * @param {TableMessage} message
 * @param {string[]} kinds
 * @param {string | undefined} link
 */
function drawRow(row, message, kinds, link) {
  const line = make("tr");
  line.setAttribute("role", "row");
  line.dataset.key = row.key;
  row.cells.forEach((text, i) => {
    const isName = i === message.button;
    const isClamped = message.tall && text !== "";
    const cell = make(isName ? "th" : "td", isName || isClamped ? "" : text, kinds[i]);
    cell.dir = "auto";
    cell.dataset.name = message.columns[i];
    cell.setAttribute("role", isName ? "rowheader" : "cell");
    if (isName) {
      cell.scope = "row";
      cell.append(makeControl(text, link));
    } else if (isClamped) {
      cell.append(make("span", text, "text"));
    }
    if (isClamped) cell.title = text;  // a wide screen shows its first lines
    line.append(cell);
  });
  return line;
}

/**
 * @param {string} text
 * @param {string | undefined} link
 */
function makeControl(text, link) {
  if (link) {
    const anchor = make("a", text);
    anchor.href = link;
    return anchor;
  }
  const button = make("button", text);
  button.type = "button";
  return button;
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {string} [text]
 * @param {string} [className]
 */
function make(tag, text = "", className = "") {
  const element = document.createElement(tag);
  const isLong = text.split(/\s+/).some((word) => word.length > LONG_WORD);
  const [first, ...parts] = isLong ? text.split(/(?<=[_/])/) : [text];  // where a long identifier may be broken
  if (first) element.append(first, ...parts.flatMap((part) => [document.createElement("wbr"), part]));
  if (className) element.className = className;
  return element;
}

/**
 * Return how a column is set: figures to the right; days, several grades and single words in one line; where there is a
 * longer word, it may be broken anywhere.
 * @param {string[]} texts
 */
function chooseKind(texts) {
  if (texts.every((text) => /^[\d,.–…]*$/.test(text))) return "number";
  if (texts.every((text) => text.length <= BRIEF_TEXT && /\d/.test(text))) return "brief";
  if (texts.every((text) => text.length <= LONGEST_NAME && !/\s/.test(text))) return "brief";
  return texts.some((text) => text.split(/\s+/).some((word) => word.length > LONG_WORD)) ? "long" : "";
}

/**
 * Return the buttons or links of the rows.
 * @param {HTMLElement} root
 * @returns {HTMLElement[]}
 */
function listControls(root) { return [...root.querySelectorAll("tbody button, tbody a")].filter((element) => element instanceof HTMLElement); }

/**
 * @param {HTMLElement} root
 * @param {string | null} key
 */
function findControl(root, key) { return listControls(root).find((control) => control.closest("tr")?.dataset.key === key); }

/**
 * Return the key of the row that holds the focus.
 * @param {HTMLElement} root
 */
function findFocusedRow(root) {
  const tree = root.getRootNode();
  const focused = tree instanceof Document || tree instanceof ShadowRoot ? tree.activeElement : null;
  return focused?.closest("tr")?.dataset.key;
}

/**
 * @param {HTMLElement} root
 * @param {string | null} key
 */
function markChosen(root, key) {
  for (const control of listControls(root)) {
    const row = control.closest("tr"), isChosen = row?.dataset.key === key;
    row?.toggleAttribute("data-chosen", isChosen);
    if (isChosen) control.setAttribute("aria-current", "true");
    else control.removeAttribute("aria-current");
  }
}

/** @param {HTMLElement} root */
function comeBack(root) {
  const link = findControl(root, takeNote());
  if (!link) return;
  link.focus({ preventScroll: true });
  link.closest("tr")?.scrollIntoView({ block: "center" });
}

/**
 * @param {KeyboardEvent} event
 * @param {HTMLElement} root
 */
function moveByKey(event, root) {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (!step || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  const controls = listControls(root);
  const next = controls[controls.findIndex((control) => control === event.target) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
  next.closest("tr")?.scrollIntoView({ block: "nearest" });
}

/**
 * Bring what a choice shows into the window. Streamlit draws the rest of the page after this: wait for the element that
 * bears the chosen key.
 * @param {TableState} state
 * @param {string} key
 * @param {number} [triesLeft]
 */
function bringToWindow(state, key, triesLeft = TRIES) {
  state.asked = null;
  if (!state.leadsTo) return;
  const elements = [...document.querySelectorAll(state.leadsTo)];
  const shown = elements.find((element) => element instanceof HTMLElement && element.dataset.key === key);
  if (shown) shown.scrollIntoView({ block: matchMedia(NARROW).matches ? "start" : "nearest" });
  else if (triesLeft) setTimeout(() => bringToWindow(state, key, triesLeft - 1), PAUSE_MS);
}
