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

// A sentence with its `{values}` filled in, and with the Korean particle that fits the sound before it.
function fill(sentence, values) {
  return chooseParticles(sentence.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole)));
}

// "3을(를)" becomes "3을". The same rule as in korean_particles.py, which explains it.
const PARTICLE_FORMS = { "이(가)": ["이", "가"], "은(는)": ["은", "는"], "을(를)": ["을", "를"], "와(과)": ["과", "와"], "(으)로": ["으로", "로"] };
function chooseParticles(text) {
  return text.replace(/이\(가\)|은\(는\)|을\(를\)|와\(과\)|\(으\)로/g, (form, at) => {
    const final = findFinal(text.slice(0, at));
    if (final === null) return form;
    const vowel = final === 0 || (final === 8 && form === "(으)로");
    return PARTICLE_FORMS[form][vowel ? 1 : 0];
  });
}
function findFinal(text) {
  const spoken = text.replace(/["'’”」』)\]}>»… ]+$/, "");
  const last = spoken.slice(-1).toLowerCase();
  if (/[%％]/.test(last)) return 0;
  if (/[0-9]/.test(last)) {
    const zeros = /(?:^|[^0-9.,])[1-9][0-9]*?(0+)$/.exec(spoken.replaceAll(",", ""));
    return zeros ? [17, 1, 4][zeros[1].length - 1] ?? 4 : [21, 8, 0, 16, 0, 0, 1, 8, 8, 0][Number(last)];
  }
  const word = /[A-Za-z]+$/.exec(spoken);
  if (word && /^([A-Z]+|[^aeiouyAEIOUY]+|.)$/.test(word[0])) return { l: 8, m: 16, n: 4, r: 8 }[last] ?? 0;
  if (word) return /ng$/i.test(word[0]) ? 21 : /[kpt]/.test(last) ? null : { l: 8, m: 16, n: 4 }[last] ?? 0;
  return /[가-힣]/.test(last) ? (last.charCodeAt(0) - 0xac00) % 28 : null;
}

// Asks a route of this server. Resolves to the JSON; throws an Error whose `code` the server gave, if it gave one.
async function ask(route, parameters) {
  const answer = await fetch(`${route}?${new URLSearchParams(parameters)}`, { credentials: "same-origin", signal: AbortSignal.timeout(20000) });
  if (answer.ok) return answer.json();
  const told = await answer.json().catch(() => ({}));
  throw Object.assign(new Error(told.error ?? String(answer.status)), { status: answer.status, code: told.code ?? null });
}
