// A document's text on the screen, cut into parts of which only those near the view are laid out, and in which only
// those near the view are marked. A part holds units: the runs of text in which terms are looked for. Built by
// generators in small steps, so that even a very long text keeps no key press waiting.

const LINES_PER_PART = 60, PART_CHARACTERS = 3000, LONGEST_PIECE = 20000, MOST_MATCHES = 200000, WINDOW = 1500;
const BLOCKS = "p,li,pre,td,th,h3,h4,h5,h6,dt,dd,caption,figcaption,blockquote,div";

class Sheet {
  constructor(name, terms) {
    this.element = make("div", name);
    this.element.dir = "auto";
    Object.assign(this, { terms, parts: [], length: 0, matches: 0, needle: "", found: 0, search: 0 });
  }

  // The text exactly as it is, in parts of some lines.
  *takeText(text) {
    for (const piece of piecesOf(text)) {
      const element = make("div", "part", piece);
      element.style.containIntrinsicSize = `auto ${Math.max(1, piece.split("\n").length - 1) * 1.6}em`;
      this.addPart(element, [makeUnit([element.firstChild])]);
      yield;
    }
  }

  // HTML that the server has made safe, in parts of some paragraphs.
  *takeHtml(html) {
    const box = document.createElement("template");
    box.innerHTML = html;
    yield;
    let part = make("div", "part"), long = 0;
    for (const node of [...box.content.childNodes]) {
      part.append(node);
      long += node.textContent.length;
      if (long < PART_CHARACTERS) continue;
      this.addPart(part, unitsOf(part));
      [part, long] = [make("div", "part"), 0];
      yield;
    }
    if (part.hasChildNodes()) this.addPart(part, unitsOf(part));
  }

  addPart(element, units) {
    for (const unit of units) {
      unit.at = this.length;
      this.length += unit.text.length;
      unit.terms = this.matches < MOST_MATCHES ? findTerms(unit.text, this.terms) : [];
      this.matches += unit.terms.length;
    }
    this.parts.push({ element, units });
    this.element.append(element);
  }

  // Every match in order, as [part number, unit, number in the unit]. `kind`: "terms" or "hits".
  list(kind) {
    const all = [];
    this.parts.forEach((part, number) => { for (const unit of part.units) unit[kind].forEach((_, i) => all.push([number, unit, i])); });
    return all;
  }

  // The first match of the stretch that holds the most different terms (rare ones count more), as its number.
  findBest() {
    const all = this.matches > 20000 ? [] : this.list("terms").map(([, unit, i]) => ({ at: unit.at + unit.terms[i][0], term: unit.terms[i][2] }));
    const often = new Map(), inside = new Map();
    for (const { term } of all) often.set(term, (often.get(term) ?? 0) + 1);
    const worth = (term) => 1 + Math.log(all.length / often.get(term));
    let best = null, most = 0, score = 0, first = 0;
    all.forEach(({ at, term }) => {
      const times = inside.get(term) ?? 0;
      inside.set(term, times + 1);
      score += times ? 0.1 : worth(term);
      for (; all[first].at < at - WINDOW; first++) {
        const left = all[first].term, now = inside.get(left) - 1;
        inside.set(left, now);
        score -= now ? 0.1 : worth(left);
      }
      if (score > most + 1e-9) [most, best] = [score, first];
    });
    return best;
  }

  // Looks for the needle in everything, in steps.
  *look(needle) {
    this.needle = needle;
    this.found = 0;
    const mine = ++this.search;
    for (const part of this.parts) {
      for (const unit of part.units) {
        const had = unit.hits.length;
        unit.hits = needle && this.found < MOST_MATCHES ? findWords(unit.text, needle) : [];
        this.found += unit.hits.length;
        if (had && unit.painted) paint(unit);
      }
      yield;
      if (mine !== this.search) return;
    }
  }

  // Marks what is near the view.
  paintNear(region) {
    const view = region.getBoundingClientRect();
    const top = view.top - view.height, bottom = view.bottom + view.height;
    let low = 0, high = this.parts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.parts[middle].element.getBoundingClientRect().bottom < top) low = middle + 1; else high = middle;
    }
    const near = [];
    for (; low < this.parts.length && near.length < 200; low++) {
      if (this.parts[low].element.getBoundingClientRect().top > bottom) break;
      near.push(this.parts[low]);
    }
    for (const part of near) for (const unit of part.units) paint(unit);
  }

  // The element of a match, laid out for certain.
  reach([number, unit, i], kind) {
    for (const part of this.parts.slice(Math.max(0, number - 1), number + 2)) part.element.classList.add("open");
    paint(unit);
    return unit.made[kind][i]?.[0] ?? this.parts[number].element;
  }

  // The number of the first match that is not above the view.
  firstInView(kind, region) {
    const top = region.getBoundingClientRect().top;
    const from = this.parts.findIndex((part) => part.element.getBoundingClientRect().bottom > top);
    const all = this.list(kind);
    let at = all.findIndex(([number]) => number >= from);
    while (at >= 0 && at < all.length && all[at][0] === from && this.reach(all[at], kind).getBoundingClientRect().bottom < top) at++;
    return at < 0 || at >= all.length ? 0 : at;
  }
}

function makeUnit(nodes) {
  const slots = nodes.map((node) => ({ text: node.data, nodes: [node] }));
  return { slots, text: slots.map((slot) => slot.text).join(""), at: 0, terms: [], hits: [], made: { terms: [], hits: [] }, painted: null };
}

// The texts below an element, those of one paragraph (cell, item, …) together.
function unitsOf(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  const units = [];
  let block = null, nodes = [];
  const close = () => { if (nodes.some((node) => node.data.trim())) units.push(makeUnit(nodes)); nodes = []; };
  while (walker.nextNode()) {
    const now = walker.currentNode.parentElement.closest(BLOCKS);
    if (now !== block) close();
    block = now;
    nodes.push(walker.currentNode);
  }
  close();
  return units;
}

// Sets the marks of a unit: what is found stands above the query's terms.
function paint(unit) {
  if (unit.painted && unit.painted[0] === unit.terms && unit.painted[1] === unit.hits) return;
  const had = unit.painted;
  unit.painted = [unit.terms, unit.hits];
  if (!unit.terms.length && !unit.hits.length && !had?.some((spans) => spans.length)) return;
  const spans = [...unit.hits.map(([start, end], i) => [start, end, "hits", i]), ...without(unit.terms, unit.hits)].sort((a, b) => a[0] - b[0]);
  unit.made = { terms: unit.terms.map(() => []), hits: unit.hits.map(() => []) };
  let at = 0, next = 0;
  for (const slot of unit.slots) {
    const end = at + slot.text.length, nodes = [];
    let done = at;
    for (let i = next; i < spans.length && spans[i][0] < end; i++) {
      const [from, to] = [Math.max(spans[i][0], at), Math.min(spans[i][1], end)];
      if (to <= from) continue;
      if (from > done) nodes.push(document.createTextNode(unit.text.slice(done, from)));
      const mark = make("mark", spans[i][2] === "hits" ? "hit" : "", unit.text.slice(from, to));
      unit.made[spans[i][2]][spans[i][3]].push(mark);
      nodes.push(mark);
      done = to;
    }
    while (next < spans.length && spans[next][1] <= end) next++;
    if (done < end || !nodes.length) nodes.push(document.createTextNode(unit.text.slice(done, end)));
    if (nodes.length > 1 || slot.nodes.length > 1 || nodes[0].nodeType !== slot.nodes[0].nodeType) {
      slot.nodes[0].before(...nodes);
      for (const old of slot.nodes) old.remove();
      slot.nodes = nodes;
    } else if (nodes[0].nodeName === "MARK") { slot.nodes[0].replaceWith(nodes[0]); slot.nodes = nodes; }
    at = end;
  }
}

// The terms' spans, cut where something that was looked for stands.
function without(terms, hits) {
  const left = [];
  terms.forEach(([start, end], i) => {
    let from = start;
    for (const [first, last] of hits) {
      if (last <= from || first >= end) continue;
      if (first > from) left.push([from, first, "terms", i]);
      from = Math.max(from, last);
    }
    if (from < end) left.push([from, end, "terms", i]);
  });
  return left;
}

// Some lines at a time, each with its line end; a line without end is cut into pieces, between two characters.
function* piecesOf(text) {
  for (let start = 0; start < text.length;) {
    let end = start;
    for (let lines = 0; lines < LINES_PER_PART && end < text.length; lines++) {
      const stop = text.indexOf("\n", end) + 1 || text.length;
      if (stop - start > LONGEST_PIECE && end > start) break;
      end = stop;
    }
    if (end - start > LONGEST_PIECE) {
      end = start + LONGEST_PIECE;
      if (/[\udc00-\udfff]/.test(text[end])) end--;
    }
    yield text.slice(start, end);
    start = end;
  }
}

// Runs the steps: a few milliseconds at a time, or all at once.
async function runQuietly(steps, wanted = () => true) {
  for (let until = performance.now() + 6; wanted(); ) {
    if (steps.next().done) return true;
    if (performance.now() < until) continue;
    await new Promise((go) => setTimeout(go));
    until = performance.now() + 6;
  }
  return false;
}

function runAtOnce(steps) { while (!steps.next().done); }
