// The windows over the decision panel: guideline and keys, another lead, names and origin, the timeline, the discussion.

class CaseWindows {
  constructor(panel) { Object.assign(this, { panel, words: panel.words }); }

  get about() { return { dataset: this.panel.told.dataset, pair: this.panel.current.pair }; }

  openSheet(title, parts) {
    const body = make("div", "sheetbody");
    body.tabIndex = 0;
    body.setAttribute("role", "region");
    body.setAttribute("aria-label", title);
    body.append(...parts);
    const dialog = openDialog(this.panel, "sheet", title, [body]);
    dialog.addEventListener("keydown", (e) => { if (e.key === "?" && !e.repeat) { e.preventDefault(); dialog.close(); } });
    body.focus();
  }

  // A window that asks something and shows what comes of it. `does(status)` runs when the button or Enter is pressed.
  ask(name, title, hint, label, does) {
    const status = make("div", "dialogstatus"), foot = make("div", "dialogfoot"), button = make("button", "primary");
    status.setAttribute("role", "status");
    button.type = "button";
    nameButton(button, label, "⏎");
    foot.append(button);
    const dialog = openDialog(this.panel, name, title, [make("p", "dialoghint", hint), status, foot]);
    button.addEventListener("click", async () => {
      if (button.disabled) return;
      button.disabled = true;
      await does(status, dialog);
      button.disabled = false;
    });
    button.focus();
    return { dialog, status, foot };
  }

  showNames() {
    const { about, words } = this;
    this.ask("names", words.names_title, words.names_hint, words.names_show, async (status, dialog) => {
      try {
        const { annotators, systems } = await ask("/api/cases/origin", about);
        const who = annotators.map(({ letter, username, name }) => [letter, name && name !== username ? `${name} (${username})` : username]);
        const from = systems.map(({ system, rank, score }) => [system, rank === null ? "" : fill(words.rank, { n: rank }), score === null || score === undefined ? "" : String(score)]);
        status.replaceChildren(this.table(words.names_who, who), from.length ? this.table(words.names_from, from) : make("p", "small", words.names_nosystem));
        dialog.querySelector(".dialogfoot")?.remove();
        dialog.querySelector(".dialoghead button").focus();
      } catch { status.textContent = words.failed; }
    });
  }

  table(title, rows) {
    const table = make("table", "facts");
    table.createCaption().textContent = title;
    for (const cells of rows) {
      const row = table.insertRow();
      for (const text of cells) row.insertCell().append(textLine("span", text));
    }
    return table;
  }

  async showTrail() {
    const { about, words } = this, list = make("ol", "trail"), status = make("p", "dialogstatus", words.loading_trail);
    status.setAttribute("role", "status");
    openDialog(this.panel, "trailwindow", words.trail_title, [status, list]);
    try {
      const { events } = await ask("/api/cases/trail", about);
      status.textContent = events.length ? "" : words.trail_empty;
      for (const { at, who, said } of events) {
        const line = make("li");
        line.append(make("span", "small", [this.panel.drawing.moment.format(new Date(at)), who].filter(Boolean).join(" · ")), textLine("p", said));
        list.append(line);
      }
    } catch { status.textContent = words.failed; }
  }

  async assign() {
    const { about, words, panel } = this, list = make("div", "choices"), status = make("p", "dialogstatus", words.loading_leads);
    status.setAttribute("role", "status");
    const given = panel.current.assigned_to;
    const dialog = openDialog(panel, "assigning", words.assign_title, [make("p", "dialoghint", words.assign_hint), status, list]);
    const give = async (to, name) => {
      const { status: code, told } = await postJson("/api/cases/assign", { ...about, to });
      if (code !== 200) { status.textContent = told.error ?? words.failed; return; }
      dialog.close();
      panel.saved.tell(to === null ? words.assign_back : fill(words.assign_done, { who: name }));
      if (panel.current?.pair === about.pair) panel.goOn({ passed: to !== null && to !== panel.told.username });
    };
    try {
      const { leads } = await ask("/api/cases/leads", { dataset: about.dataset });
      status.textContent = leads.length ? "" : words.assign_nobody;
      const offers = leads.filter((lead) => lead.username !== given).map((lead) => [lead.username, lead.name || lead.username]);
      if (given) offers.push([null, words.assign_none]);
      for (const [to, name] of offers) {
        const button = make("button", "");
        button.type = "button";
        button.append(textLine("span", to && name !== to ? `${name} (${to})` : name));
        button.addEventListener("click", () => give(to, name));
        list.append(button);
      }
      list.firstElementChild?.focus();
    } catch { status.textContent = words.failed; }
  }

  discuss() {
    const { about, words, panel } = this, open = panel.current.discussion && panel.current.discussion.state !== "closed";
    this.ask("discussing", words.discuss_title, open ? words.discuss_closehint : words.discuss_hint, open ? words.discuss_close : words.discuss_ask, async (status, dialog) => {
      const { status: code, told } = await postJson("/api/cases/discuss", { ...about, close: Boolean(open) });
      if (code !== 200) { status.textContent = told.error ?? words.failed; return; }
      dialog.close();
      panel.saved.tell(open ? words.discuss_closed : words.discuss_asked);
      if (open) panel.refresh(about.pair); else if (panel.current?.pair === about.pair) panel.goOn({ passed: true });
    });
  }
}
