// What every part of the panel makes or asks for: elements, ids, answers of the server.

function make(tag, name = "", text = null) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== null) element.textContent = text;
  return element;
}

// What a screen reader pronounces a text as, and which signs of the writing systems of East Asia a browser takes.
function sayLanguage(element, language) {
  if (/^[a-z]{2,3}(-[a-z0-9]{2,8})*$/i.test(language ?? "")) element.lang = language;
  else element.removeAttribute("lang");
}

// A button that does `act` and shows its key.
function makeButton(act, text, key = "", name = "") {
  const button = make("button", name);
  button.type = "button";
  button.dataset.act = act;
  nameButton(button, text, key);
  return button;
}

function nameButton(button, text, key = "") {
  if (key) button.setAttribute("aria-keyshortcuts", { z: "Z Backspace", "⏎": "Enter" }[key] ?? key.toUpperCase());
  const shown = key ? [make("kbd", "", key)] : [];
  for (const kbd of shown) kbd.setAttribute("aria-hidden", "true");
  button.replaceChildren(make("span", "", text), ...shown);
}

// A UUID also where crypto.randomUUID is missing (plain http on an address that is not this machine's).
function newId() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 15) | 64;
  bytes[8] = (bytes[8] & 63) | 128;
  return [...bytes].map((b, i) => ([4, 6, 8, 10].includes(i) ? "-" : "") + b.toString(16).padStart(2, "0")).join("");
}

// The name of this tab, which it keeps over a reload.
function tabId(anew = false) {
  try {
    const kept = anew ? null : sessionStorage.getItem("annotator/tab");
    const id = kept ?? newId();
    sessionStorage.setItem("annotator/tab", id);
    return id;
  } catch { return newId(); }
}

// A sentence with its `{values}` filled in.
function fill(sentence, values) {
  return sentence.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

// Asks a route of this server. Resolves to the JSON; throws an Error whose `code` the server gave, if it gave one.
async function ask(route, parameters) {
  const answer = await fetch(`${route}?${new URLSearchParams(parameters)}`, { credentials: "same-origin", signal: AbortSignal.timeout(20000) });
  if (answer.ok) return answer.json();
  const told = await answer.json().catch(() => ({}));
  throw Object.assign(new Error(told.error ?? String(answer.status)), { status: answer.status, code: told.code ?? null });
}
