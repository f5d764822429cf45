// The question to the leads about the pair on the screen. What is typed is kept in this browser, with the id under which
// it is sent, until the server has it: closing, reloading or a failure loses nothing, and sending again asks once.

class AskDialog {
  constructor(panel) {
    Object.assign(this, { panel, words: panel.words });
  }

  open(pair = this.panel.current) {
    if (!pair || this.panel.root.querySelector("dialog[open]")) return;
    this.pair = pair;
    this.key = `annotator/question/${encodeURIComponent(this.panel.told.username)}/${encodeURIComponent(this.panel.told.dataset)}/${pair.pair}`;
    this.draft = readDraft(this.key) ?? { id: newId(), text: "" };
    this.dialog = openDialog(this.panel, "asking", this.words.ask_title, this.makeParts());
    this.text.focus();
  }

  makeParts() {
    const about = make("p", "dialogabout", nameOf(this.pair));
    about.dir = "auto";
    this.text = make("textarea");
    Object.assign(this.text, { rows: 5, maxLength: 5000, dir: "auto", value: this.draft.text, id: "asktext" });
    this.text.setAttribute("aria-describedby", "askhint");
    const label = make("label", "dialoglabel", this.words.ask_label);
    label.htmlFor = "asktext";
    const hint = make("p", "dialoghint", this.words.ask_hint);
    hint.id = "askhint";
    this.status = make("p", "dialogstatus");
    this.status.setAttribute("role", "alert");
    this.send = makeButton("", this.words.ask_send, "Ctrl ⏎", "primary");
    this.send.removeAttribute("data-act");
    this.send.setAttribute("aria-keyshortcuts", "Control+Enter Meta+Enter");
    this.send.addEventListener("click", () => this.submit());
    this.text.addEventListener("input", () => this.keep());
    this.text.addEventListener("keydown", (e) => { if (e.key === "Enter" && (e.ctrlKey || e.metaKey) && !e.isComposing && !e.repeat) this.submit(); });
    const own = make("a", "", this.words.ask_own);
    own.href = `/questions?dataset=${encodeURIComponent(this.panel.told.dataset)}`;
    const foot = make("div", "dialogfoot");
    foot.append(this.send, own);
    return [about, label, this.text, hint, this.status, foot];
  }

  keep() {
    this.draft.text = this.text.value;
    writeDraft(this.key, this.draft.text ? this.draft : null);
  }

  async submit() {
    if (this.send.disabled) return;
    if (!this.text.value.trim()) { this.status.textContent = this.words.ask_empty; return this.text.focus(); }
    this.keep();
    this.send.disabled = true;
    this.status.textContent = "";
    const { id, text } = this.draft;
    const failed = await post("/api/questions", { dataset: this.panel.told.dataset, pair: this.pair.pair, text, id });
    this.send.disabled = false;
    if (failed === null) {
      if (readDraft(this.key)?.text === text) writeDraft(this.key, null);
      this.dialog.close();
      this.panel.saved.tell(this.words.ask_sent);
    } else this.status.textContent = sayFailure(this.words, failed, { 403: this.words.ask_notyours });
  }
}

// ---- what the dialogs of questions and proposals share -----------------------------------------------------

// A modal dialog of the panel's: Esc and a click beside it close it, and the focus goes back to where it was.
function openDialog(panel, name, title, parts) {
  const dialog = make("dialog", `contribution ${name}`);
  const head = make("div", "dialoghead"), heading = make("h2", "", title);
  heading.id = `${name}title`;
  dialog.setAttribute("aria-labelledby", heading.id);
  const close = make("button");
  close.type = "button";
  nameButton(close, panel.words.close, "Esc");
  close.addEventListener("click", () => dialog.close());
  head.append(heading, close);
  dialog.append(head, ...parts);
  dialog.addEventListener("mousedown", (e) => { if (e.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (panel.isFocusLost()) panel.view.focus();  // else the browser has put it back, or somebody has gone on to a field
  });
  panel.root.append(dialog);
  dialog.showModal();
  return dialog;
}

function readDraft(key) { try { return JSON.parse(localStorage.getItem(key)); } catch { return null; } }

function writeDraft(key, draft) {
  try { draft ? localStorage.setItem(key, JSON.stringify(draft)) : localStorage.removeItem(key); } catch { /* it stays on the screen */ }
}

// Posts JSON. Resolves to null when it was stored, else to the status (0: nobody answered).
async function post(route, body) {
  try {
    const answer = await fetch(route, {
      method: "POST", credentials: "same-origin", headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body), signal: AbortSignal.timeout(20000),
    });
    return answer.ok ? null : answer.status;
  } catch { return 0; }
}

function sayFailure(words, status, known = {}) {
  if (known[status]) return known[status];
  if (status === 401) return `${words.why_signedout} ${words.send_kept}`;
  return status >= 400 && status < 500 ? words.send_refused : `${words.why_unreachable_once} ${words.send_kept}`;
}
