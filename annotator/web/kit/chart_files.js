// The files of a chart: see page_parts.py. The picture is the drawing that stands on the page, with the colours and the
// ground of the page written out, so that it needs nothing else. Nothing leaves the browser.

const SCALE = 2;
const MARGIN = 12;

/**
 * @typedef {object} ChartMessage
 * @property {string} chart the key of the chart's container
 * @property {string} caption
 * @property {string} csv the address of its numbers
 * @property {string} name of its files
 * @property {{ csv: string }} words
 */

/** A drawing as a text of its own. @typedef {{ text: string, width: number, height: number }} Drawing */

/** @param {{ data: { message: string }, parentElement: ParentNode }} component */
export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".files");
  if (!root) return;
  /** @type {ChartMessage} */
  const message = JSON.parse(data.message);
  root.setAttribute("aria-label", message.caption);
  root.replaceChildren(
    makeLink(message.csv, message.words.csv, `${message.words.csv}: ${message.caption}`),
    makeButton("SVG", message, (chart) => saveSvg(copyDrawing(chart), message.name)),
    makeButton("PNG", message, (chart) => savePng(copyDrawing(chart), message.name)),
  );
}

/**
 * @param {string} address
 * @param {string} text
 * @param {string} label
 */
function makeLink(address, text, label) {
  const link = document.createElement("a");
  link.href = address;
  link.textContent = text;
  link.setAttribute("aria-label", label);
  link.download = "";
  return link;
}

/**
 * @param {string} kind
 * @param {ChartMessage} message
 * @param {(chart: SVGElement) => void} save
 */
function makeButton(kind, message, save) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = kind;
  button.setAttribute("aria-label", `${kind}: ${message.caption}`);
  button.addEventListener("click", () => {
    const chart = document.querySelector(`.st-key-${message.chart} [data-testid="stVegaLiteChart"] svg.marks`);
    if (chart instanceof SVGElement) save(chart);
  });
  return button;
}

/**
 * Copy a drawing: what the page's styles say is written into it.
 * @param {SVGElement} chart
 * @returns {Drawing}
 */
function copyDrawing(chart) {
  const copy = /** @type {SVGElement} */ (chart.cloneNode(true));
  const style = getComputedStyle(chart);
  const width = Number(chart.getAttribute("width")) + 2 * MARGIN, height = Number(chart.getAttribute("height")) + 2 * MARGIN;
  setAttributes(copy, {
    xmlns: "http://www.w3.org/2000/svg", viewBox: [-MARGIN, -MARGIN, width, height].join(" "), width, height,
    color: style.color, "font-family": style.fontFamily,
  });
  copy.removeAttribute("style");
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  setAttributes(ground, { x: -MARGIN, y: -MARGIN, width, height, fill: findGround(chart) });
  copy.insertBefore(ground, copy.firstChild);
  return { text: new XMLSerializer().serializeToString(copy), width, height };
}

/**
 * @param {SVGElement} element
 * @param {Record<string, string | number>} attributes
 */
function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
}

/**
 * Return the colour of what is behind an element.
 * @param {Element} element
 */
function findGround(element) {
  /** @type {Element | null} */
  let ancestor = element;
  for (; ancestor; ancestor = ancestor.parentElement) {
    const colour = getComputedStyle(ancestor).backgroundColor;
    if (colour && colour !== "transparent" && !colour.endsWith(", 0)")) return colour;
  }
  return "#ffffff";
}

/**
 * @param {Drawing} drawing
 * @param {string} name
 */
function saveSvg({ text }, name) { saveFile(new Blob([text], { type: "image/svg+xml" }), `${name}.svg`); }

/**
 * @param {Drawing} drawing
 * @param {string} name
 */
function savePng({ text, width, height }, name) {
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = width * SCALE;
    canvas.height = height * SCALE;
    const context = canvas.getContext("2d");
    context?.scale(SCALE, SCALE);
    context?.drawImage(image, 0, 0, width, height);
    canvas.toBlob((blob) => { if (blob) saveFile(blob, `${name}.png`); }, "image/png");
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(text)}`;
}

/**
 * @param {Blob} blob
 * @param {string} name
 */
function saveFile(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
