// Tabs inside a sheet: one part at a time, chosen with the mouse or the arrow keys.

import { make } from "./elements.js";

let tabSets = 0;

/**
 * Make a row of tabs with what each of them shows.
 * @param {string} label of the row
 * @param {{ name: string, parts: HTMLElement[] }[]} tabs
 * @param {number} open the place of the one that is open at first
 */
export function makeTabs(label, tabs, open) {
  const row = make("div", "tabs");
  row.setAttribute("role", "tablist");
  row.setAttribute("aria-label", label);
  const set = ++tabSets;
  const buttons = tabs.map(({ name }, i) => {
    const button = make("button", "", name);
    Object.assign(button, { type: "button", id: `tab${set}_${i}` });
    button.setAttribute("role", "tab");
    button.setAttribute("aria-controls", `tabpart${set}_${i}`);
    button.addEventListener("click", () => choose(i));
    return button;
  });
  const parts = tabs.map(({ parts: inside }, i) => {
    const part = make("div", "tabpart");
    part.id = `tabpart${set}_${i}`;
    part.setAttribute("role", "tabpanel");
    part.setAttribute("aria-labelledby", `tab${set}_${i}`);
    part.append(...inside);
    return part;
  });
  /** @param {number} chosen */
  const choose = (chosen) => {
    for (const [i, button] of buttons.entries()) {
      button.setAttribute("aria-selected", String(i === chosen));
      button.tabIndex = i === chosen ? 0 : -1;
      parts[i].hidden = i !== chosen;
    }
  };
  row.addEventListener("keydown", (event) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    const at = buttons.findIndex((button) => button.getAttribute("aria-selected") === "true");
    if (!step || at < 0) return;
    event.preventDefault();
    const next = (at + step + buttons.length) % buttons.length;
    choose(next);
    buttons[next].focus();
  });
  row.append(...buttons);
  choose(open);
  return [row, ...parts];
}
