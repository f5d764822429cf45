// Modal dialogs of the panels. They are native: the focus stays inside, Esc closes, and the focus goes back to where it was.

import { isFocusLost, make, makeButton } from "./elements.js";

/**
 * What a dialog needs of the panel that it lies over.
 * @typedef {object} DialogHost
 * @property {HTMLElement} root
 * @property {import("./sentences.js").Words} words
 * @property {() => void} focusDocument
 */

/**
 * Open a dialog over a panel: Esc, its button and a click beside it close it.
 * @param {DialogHost} host
 * @param {string} name its class
 * @param {string} title
 * @param {Node[]} parts
 */
export function openDialog(host, name, title, parts) {
  const dialog = make("dialog", `contribution ${name}`);
  const heading = make("h2", "", title);
  heading.id = `${name}title`;
  dialog.setAttribute("aria-labelledby", heading.id);
  const close = makeButton(host.words.close, "Esc");
  close.addEventListener("click", () => dialog.close());
  const head = make("div", "dialoghead");
  head.append(heading, close);
  dialog.append(head, ...parts);
  dialog.addEventListener("mousedown", (event) => { if (event.target === dialog) dialog.close(); });
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (isFocusLost(host.root)) host.focusDocument();  // else the browser has put it back, or somebody has gone on to a field
  });
  host.root.append(dialog);
  dialog.showModal();
  return dialog;
}

/** @param {HTMLElement} root */
export function hasOpenDialog(root) { return root.querySelector("dialog[open]") !== null; }
