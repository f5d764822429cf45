// The dialogs over the decision panel: guideline and keys, another lead, names and origin, the history, the discussion.

import { openDialog } from "../../kit/panel/dialogs.js";
import { findElement, make, makeButton, makeText } from "../../kit/panel/elements.js";
import { askServer, postJson } from "../../kit/panel/requests.js";
import { fill } from "../../kit/panel/sentences.js";

/** @typedef {import("./messages.js").Disagreement} Disagreement */

/** An annotator behind a letter. @typedef {{ letter: string, username: string, name: string | null }} NamedAnnotator */

/** A system that found a document. @typedef {{ system: string, rank: number | null, score: number | null }} SourceSystem */

/**
 * What the dialogs need of the panel.
 * @typedef {object} DisagreementDialogSettings
 * @property {import("../../kit/panel/dialogs.js").DialogHost} host
 * @property {string} dataset
 * @property {string} username
 * @property {(moment: Date) => string} formatMoment
 * @property {(text: string) => void} remark
 * @property {(pair: string, isPassed: boolean) => void} goOn leaves this pair, if it is on the screen still
 * @property {(pair: string) => void} refresh
 */

export class DisagreementDialogs {
  /** @param {DisagreementDialogSettings} settings */
  constructor(settings) {
    this.settings = settings;
    this.words = settings.host.words;
  }

  /**
   * @param {string} title
   * @param {HTMLElement[]} parts
   */
  openSheet(title, parts) {
    const body = make("div", "sheetbody");
    body.tabIndex = 0;
    body.setAttribute("role", "region");
    body.setAttribute("aria-label", title);
    body.append(...parts);
    const dialog = openDialog(this.settings.host, "sheet", title, [body]);
    dialog.addEventListener("keydown", (event) => {
      if (event.key !== "?" || event.repeat) return;
      event.preventDefault();
      dialog.close();
    });
    body.focus();
  }

  /**
   * Open a dialog that asks something and shows what comes of it.
   * @param {{ name: string, title: string, hint: string, label: string }} texts
   * @param {(status: HTMLElement, dialog: HTMLDialogElement) => Promise<void>} does what the button or Enter does
   */
  ask({ name, title, hint, label }, does) {
    const status = make("div", "dialogstatus"), foot = make("div", "dialogfoot"), button = makeButton(label, "⏎", "primary");
    status.setAttribute("role", "status");
    foot.append(button);
    const dialog = openDialog(this.settings.host, name, title, [make("p", "dialoghint", hint), status, foot]);
    button.addEventListener("click", async () => {
      if (button.disabled) return;
      button.disabled = true;
      await does(status, dialog);
      button.disabled = false;
    });
    button.focus();
  }

  /** @param {Disagreement} disagreement */
  showNames({ pair }) {
    const { words } = this;
    this.ask({ name: "names", title: words.names_title, hint: words.names_hint, label: words.names_show }, async (status, dialog) => {
      try {
        /** @type {{ annotators: NamedAnnotator[], systems: SourceSystem[] }} */
        const { annotators, systems } = await askServer("/api/cases/origin", this.about(pair));
        const people = annotators.map(({ letter, username, name }) => [letter, namePerson(username, name)]);
        const sources = systems.map(({ system, rank, score }) => [system, rank === null ? "" : fill(words.rank, { n: rank }), score === null || score === undefined ? "" : String(score)]);
        status.replaceChildren(makeTable(words.names_who, people), sources.length ? makeTable(words.names_from, sources) : make("p", "small", words.names_nosystem));
        dialog.querySelector(".dialogfoot")?.remove();
        findElement(dialog, ".dialoghead button", HTMLButtonElement).focus();
      } catch { fail(status, words.failed); }
    });
  }

  /** @param {Disagreement} disagreement */
  async showHistory({ pair }) {
    const { words } = this, list = make("ol", "trail"), status = makeStatus(words.loading_trail);
    openDialog(this.settings.host, "trailwindow", words.trail_title, [status, list]);
    try {
      /** @type {{ events: { at: string, who: string | null, said: string }[] }} */
      const { events } = await askServer("/api/cases/trail", this.about(pair));
      status.textContent = events.length ? "" : words.trail_empty;
      for (const { at, who, said } of events) {
        const line = make("li");
        line.append(make("span", "small", [this.settings.formatMoment(new Date(at)), who].filter(Boolean).join(" · ")), makeText("p", said));
        list.append(line);
      }
    } catch { fail(status, words.failed); }
  }

  /** @param {Disagreement} disagreement */
  async assign({ pair, assigned_to }) {
    const { words } = this, { dataset, username, remark, goOn, host } = this.settings;
    const list = make("div", "choices"), status = makeStatus(words.loading_leads);
    const dialog = openDialog(host, "assigning", words.assign_title, [make("p", "dialoghint", words.assign_hint), status, list]);
    /**
     * @param {string | null} to
     * @param {string} name
     */
    const assignTo = async (to, name) => {
      const { status: code, answer } = await postJson("/api/cases/assign", { ...this.about(pair), to });
      if (code !== 200) {
        fail(status, answer.error ?? words.failed);
        return;
      }
      dialog.close();
      remark(to === null ? words.assign_back : fill(words.assign_done, { who: name }));
      goOn(pair, to !== null);
    };
    /**
     * @param {string | null} to
     * @param {string} name
     * @param {string} label
     */
    const offer = (to, name, label) => {
      const button = make("button");
      button.type = "button";
      button.append(makeText("span", label));
      button.addEventListener("click", () => assignTo(to, name));
      list.append(button);
    };
    try {
      /** @type {{ leads: { username: string, name: string | null }[] }} */
      const { leads } = await askServer("/api/cases/leads", { dataset });
      const others = leads.filter((lead) => lead.username !== username);
      status.textContent = others.length ? "" : words.assign_nobody;
      for (const lead of others) if (lead.username !== assigned_to) offer(lead.username, lead.name || lead.username, namePerson(lead.username, lead.name));
      if (assigned_to) offer(null, words.assign_none, words.assign_none);
      list.querySelector("button")?.focus();
    } catch { fail(status, words.failed); }
  }

  /**
   * Ask the annotators to discuss a pair, or close the discussion.
   * @param {Disagreement} disagreement
   */
  discuss({ pair, discussion }) {
    const { words } = this, { remark, refresh, goOn } = this.settings;
    const isOpen = Boolean(discussion && discussion.state !== "closed");
    const texts = {
      name: "discussing", title: words.discuss_title,
      hint: isOpen ? words.discuss_closehint : words.discuss_hint, label: isOpen ? words.discuss_close : words.discuss_ask,
    };
    this.ask(texts, async (status, dialog) => {
      const { status: code, answer } = await postJson("/api/cases/discuss", { ...this.about(pair), close: isOpen });
      if (code !== 200) {
        fail(status, answer.error ?? words.failed);
        return;
      }
      dialog.close();
      remark(isOpen ? words.discuss_closed : words.discuss_asked);
      if (isOpen) refresh(pair);
      else goOn(pair, true);
    });
  }

  /** @param {string} pair */
  about(pair) { return { dataset: this.settings.dataset, pair }; }
}

/**
 * @param {string} username
 * @param {string | null} name
 */
function namePerson(username, name) { return name && name !== username ? `${name} (${username})` : username; }

/** @param {string} text */
function makeStatus(text) {
  const status = make("p", "dialogstatus", text);
  status.setAttribute("role", "status");
  return status;
}

/**
 * @param {HTMLElement} status
 * @param {string} text
 */
function fail(status, text) {
  status.textContent = text;
  status.dataset.kind = "error";
}

/**
 * @param {string} title
 * @param {string[][]} rows
 */
function makeTable(title, rows) {
  const table = make("table", "facts");
  table.createCaption().textContent = title;
  for (const cells of rows) {
    const row = table.insertRow();
    for (const text of cells) row.insertCell().append(makeText("span", text));
  }
  return table;
}
