// A text with a button that copies it: see components.py. Browsers offer their clipboard to pages of this machine and of https
// only; elsewhere the text is selected and copied as a reader would.

/** @typedef {{ label: string, text: string, copy: string, copied: string, select: string }} CopyMessage */

/** @param {{ data: { message: string }, parentElement: ParentNode }} component */
export default function ({ data, parentElement }) {
  const label = parentElement.querySelector("label"), field = parentElement.querySelector("input");
  const button = parentElement.querySelector("button"), status = parentElement.querySelector("p");
  if (!label || !field || !button || !status) return;
  /** @type {CopyMessage} */
  const message = JSON.parse(data.message);
  if (field.value !== message.text) status.textContent = "";
  label.textContent = message.label;
  field.value = message.text;
  button.textContent = message.copy;
  field.onfocus = () => field.select();
  button.onclick = async () => {
    const isCopied = await copyText(field);
    status.textContent = isCopied ? message.copied : message.select;
    if (isCopied) button.focus(); // otherwise the text stays selected
  };
}

/** @param {HTMLInputElement} field */
async function copyText(field) {
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    field.focus();
    field.select();
    return document.execCommand("copy");
  }
}
