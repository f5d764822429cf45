// The question to the leads about the pair on the screen. What is typed is kept in this browser, with the id under which
// it is sent, until the server has it: closing, reloading or a failure loses nothing, and sending again asks once.

import { readStored, writeStored } from "../../kit/panel/browser_storage.js";
import { openDialog } from "../../kit/panel/dialogs.js";
import { make, makeButton, makeText } from "../../kit/panel/elements.js";
import { newId } from "../../kit/panel/ids.js";
import { postJson } from "../../kit/panel/requests.js";
import { describeFailure } from "./send_failure.js";

/** @typedef {import("../../kit/panel/dialogs.js").DialogHost & { remark: (text: string) => void }} QuestionHost */

export class QuestionDialog {
  /**
   * Open it.
   * @param {QuestionHost} host
   * @param {{ username: string, dataset: string }} settings
   * @param {import("./messages.js").Pair} pair
   */
  constructor(host, { username, dataset }, pair) {
    this.host = host;
    this.words = host.words;
    this.dataset = dataset;
    this.pair = pair;
    this.key = `annotator/question/${encodeURIComponent(username)}/${encodeURIComponent(dataset)}/${pair.pair}`;
    /** @type {{ id: string, text: string }} */
    this.draft = readStored(this.key) ?? { id: newId(), text: "" };

    const about = makeText("p", pair.document.title || pair.document.doc_id, "dialogabout");
    this.text = this.makeTextField();
    const label = make("label", "dialoglabel", this.words.ask_label);
    label.htmlFor = "asktext";
    const hint = make("p", "dialoghint", this.words.ask_hint);
    hint.id = "askhint";
    this.status = make("p", "dialogstatus");
    this.status.setAttribute("role", "alert");
    this.send = makeButton(this.words.ask_send, "Ctrl ⏎", "primary");
    this.send.setAttribute("aria-keyshortcuts", "Control+Enter Meta+Enter");
    this.send.addEventListener("click", () => this.submit());
    const own = make("a", "", this.words.ask_own);
    own.href = `/questions?dataset=${encodeURIComponent(dataset)}`;
    const foot = make("div", "dialogfoot");
    foot.append(this.send, own);
    this.dialog = openDialog(host, "asking", this.words.ask_title, [about, label, this.text, hint, this.status, foot]);
    this.text.focus();
  }

  makeTextField() {
    const field = make("textarea");
    Object.assign(field, { rows: 5, maxLength: 5000, dir: "auto", value: this.draft.text, id: "asktext" });
    field.setAttribute("aria-describedby", "askhint");
    field.addEventListener("input", () => this.keep());
    field.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !event.isComposing && !event.repeat) this.submit();
    });
    return field;
  }

  keep() {
    this.draft.text = this.text.value;
    writeStored(this.key, this.draft.text ? this.draft : null);
  }

  async submit() {
    if (this.send.disabled) return;
    if (!this.text.value.trim()) {
      this.status.textContent = this.words.ask_empty;
      return this.text.focus();
    }
    this.keep();
    this.send.disabled = true;
    this.status.textContent = "";
    const { id, text } = this.draft;
    const { status } = await postJson("/api/questions", { dataset: this.dataset, pair: this.pair.pair, text, id });
    this.send.disabled = false;
    if (status < 200 || status > 299) {
      this.status.textContent = describeFailure(this.words, status, {
        403: this.words.ask_notyours,
        409: this.words.ask_toomany,
      });
      return;
    }
    if (readStored(this.key)?.text === text) writeStored(this.key, null);
    this.dialog.close();
    this.host.remark(this.words.ask_sent);
  }
}
