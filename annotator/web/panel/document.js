// The document of the pair on the screen, in a scrolling region of its own. Builds a document's elements once and
// ahead of time, so that a long text does not delay a key press. Everything is set as text: a document runs nothing.

const LINES_PER_BLOCK = 60;

class DocumentView {
  constructor(host, { dataset, words }) {
    Object.assign(this, { host, dataset, words, built: new Map() });
    this.region = make("div", "document");
    this.region.tabIndex = 0;
    this.region.setAttribute("role", "region");
    this.region.setAttribute("aria-label", words.document);
    host.replaceChildren(this.region);
  }

  prepare(pair) { this.build(pair); }

  show(pair) {
    this.region.replaceChildren(...this.build(pair));
    this.region.scrollTop = 0;
  }

  find() { this.focus(); }

  nextMatch(step) {
    const marks = [...this.region.querySelectorAll("mark")];
    if (!marks.length) return;
    this.at = ((this.at ?? (step > 0 ? -1 : 0)) + step + marks.length) % marks.length;
    marks[this.at].scrollIntoView({ block: "center" });
  }

  scroll(step) { this.region.scrollBy({ top: step * this.region.clientHeight * 0.85 }); }

  focus() { this.region.focus({ preventScroll: true }); }

  forget(pairKey) { this.built.delete(pairKey); }

  build(pair) {
    if (this.built.has(pair.pair)) return this.built.get(pair.pair);
    const title = make("h2", "", pair.document.title || pair.document.doc_id);
    title.dir = "auto";
    const parts = [title, make("div", "docid", pair.document.doc_id), this.buildText(pair, pair.document.text)];
    if (pair.document.text !== null && pair.document.length > [...pair.document.text].length) {
      const whole = make("button", "", this.words.whole.replace("{n}", pair.document.length.toLocaleString()));
      whole.type = "button";
      whole.onclick = () => this.showWhole(pair, whole, parts);
      parts.push(whole);
    }
    this.built.set(pair.pair, parts);
    return parts;
  }

  buildText(pair, text) {
    const source = ["text/x-rst", "text/html"].includes(pair.document.media_type);
    const element = make("div", text === null ? "missing" : source ? "text source" : "text");
    element.dir = "auto";
    if (text === null) { element.textContent = this.words.notext; return element; }
    pair.terms ??= termsOf(pair.query.text);
    for (const block of blocksOf(text)) element.append(markedUp(block, pair.terms));
    return element;
  }

  async showWhole(pair, button, parts) {
    button.disabled = true;
    const where = `/api/text?dataset=${encodeURIComponent(this.dataset)}&pair=${encodeURIComponent(pair.pair)}`;
    try {
      const answer = await fetch(where, { credentials: "same-origin" });
      if (!answer.ok) throw new Error(String(answer.status));
      const text = this.buildText(pair, await answer.text());
      parts[2].replaceWith(text);
      parts[2] = text;
      button.remove();
      parts.pop();
    } catch { button.disabled = false; button.textContent = this.words.wholefailed; }
  }
}

// Blocks of lines, each laid out only when it comes into view; a line without end is cut into pieces too.
function* blocksOf(text) {
  const lines = text.split("\n");
  for (let start = 0; start < lines.length; start += LINES_PER_BLOCK) {
    const block = lines.slice(start, start + LINES_PER_BLOCK).join("\n");
    for (let at = 0; at === 0 || at < block.length; at += 20000) yield block.slice(at, at + 20000);
  }
}

function markedUp(block, terms) {
  const element = make("div");
  let at = 0;
  for (const [start, end] of findTerms(block, terms)) {
    if (start < at) continue;
    element.append(block.slice(at, start), make("mark", "", block.slice(start, end)));
    at = end;
  }
  element.append(block.slice(at) || "​");
  return element;
}
