// The files of a chart: see chart_files.py. The picture is the drawing that stands on the page, with the colours and the
// ground of the page written out, so that it needs nothing else. Nothing leaves the browser.

const SCALE = 2, MARGIN = 12;

export default function ({ data, parentElement }) {
  const root = parentElement.querySelector(".files");
  const told = JSON.parse(data.told);
  root.setAttribute("aria-label", told.caption);
  root.replaceChildren(
    link(told.csv, told.words.csv, `${told.words.csv}: ${told.caption}`),
    button("SVG", told, () => save(draw(told.chart), `${told.name}.svg`, "image/svg+xml")),
    button("PNG", told, () => paint(draw(told.chart), told)),
  );
}

function link(address, text, says) {
  const made = document.createElement("a");
  made.href = address;
  made.textContent = text;
  made.setAttribute("aria-label", says);
  made.download = "";
  return made;
}

function button(kind, told, act) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = kind;
  made.setAttribute("aria-label", `${kind}: ${told.caption}`);
  made.addEventListener("click", () => { if (find(told.chart)) act(); });
  return made;
}

function find(chart) {
  return document.querySelector(`.st-key-${chart} [data-testid="stVegaLiteChart"] svg.marks`);
}

// The drawing as a text of its own: what the page's styles say is written into it.
function draw(chart) {
  const shown = find(chart), copy = shown.cloneNode(true);
  const style = getComputedStyle(shown);
  const width = Number(shown.getAttribute("width")), height = Number(shown.getAttribute("height"));
  const box = [-MARGIN, -MARGIN, width + 2 * MARGIN, height + 2 * MARGIN];
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("viewBox", box.join(" "));
  copy.setAttribute("width", box[2]);
  copy.setAttribute("height", box[3]);
  copy.setAttribute("color", style.color);
  copy.setAttribute("font-family", style.fontFamily);
  copy.removeAttribute("style");
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  const place = { x: box[0], y: box[1], width: box[2], height: box[3], fill: findGround(shown) };
  for (const [name, value] of Object.entries(place)) ground.setAttribute(name, value);
  copy.insertBefore(ground, copy.firstChild);
  return { text: new XMLSerializer().serializeToString(copy), width: box[2], height: box[3] };
}

function findGround(element) {
  for (let at = element; at; at = at.parentElement) {
    const found = getComputedStyle(at).backgroundColor;
    if (found && found !== "transparent" && !found.endsWith(", 0)")) return found;
  }
  return "#ffffff";
}

function paint(drawn, told) {
  const image = new Image();
  image.onload = () => {
    const canvas = document.createElement("canvas");
    canvas.width = drawn.width * SCALE;
    canvas.height = drawn.height * SCALE;
    const context = canvas.getContext("2d");
    context.scale(SCALE, SCALE);
    context.drawImage(image, 0, 0, drawn.width, drawn.height);
    canvas.toBlob((blob) => keep(blob, `${told.name}.png`), "image/png");
  };
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawn.text)}`;
}

function save(drawn, name, type) {
  keep(new Blob([drawn.text], { type }), name);
}

function keep(blob, name) {
  const made = document.createElement("a");
  made.href = URL.createObjectURL(blob);
  made.download = name;
  document.body.append(made);
  made.click();
  made.remove();
  setTimeout(() => URL.revokeObjectURL(made.href), 10_000);
}
