// A document's text on the screen, cut into parts of which only those near the view are laid out, and in which only
// those near the view are marked. A part holds units: the runs of text in which terms are looked for. Built by
// generators in small steps, so that even a very long text keeps no key press waiting.

import { make } from "./elements.js";
import { findTerms, findWords } from "./query_terms.js";

const LINES_PER_PART = 60;
const PART_CHARACTERS = 3000;
const LONGEST_PIECE = 20000;
const MOST_MATCHES = 200000;
const PARTS_AT_ONCE = 2;  // of the beginning: laid out and marked before it comes to the screen
const WINDOW = 1500;
const BLOCKS = "p,li,pre,td,th,h3,h4,h5,h6,dt,dd,caption,figcaption,blockquote,div";

/**
 * What is marked: the query's terms, or the hits of what somebody looks for.
 * @typedef {"terms" | "hits"} MarkKind
 */

/** @typedef {import("./query_terms.js").TermSpan} TermSpan */

/**
 * A run of text in which terms are looked for. `slots` are its text nodes, each with the nodes that stand in its place now;
 * `index` is where it begins in the whole text; `marks` are the elements of each match; `painted` are the spans that are marked.
 * @typedef {object} Unit
 * @property {{ text: string, nodes: ChildNode[] }[]} slots
 * @property {string} text
 * @property {number} index
 * @property {TermSpan[]} terms
 * @property {[start: number, end: number][]} hits
 * @property {{ terms: HTMLElement[][], hits: HTMLElement[][] }} marks
 * @property {{ terms: TermSpan[], hits: [number, number][] } | null} painted
 */

/** A match: the number of its part, its unit, its number in the unit. @typedef {[part: number, unit: Unit, number: number]} Match */

export class MarkedText {
  /**
   * @param {string} className
   * @param {import("./query_terms.js").Terms} terms
   */
  constructor(className, terms) {
    this.element = make("div", className);
    this.element.dir = "auto";
    this.terms = terms;
    /** @type {{ element: HTMLElement, units: Unit[] }[]} */
    this.parts = [];
    this.length = 0;
    this.matches = 0;
    this.needle = "";
    this.hitCount = 0;
    this.searchNumber = 0;
    /** @type {number | null | undefined} the number of the best match; undefined: it is not known yet */
    this.best = undefined;
  }

  /**
   * Take the text exactly as it is, in parts of some lines.
   * @param {string} text
   */
  *takeText(text) {
    for (const piece of cutPieces(text)) {
      const element = make("div", "part", piece);
      element.style.containIntrinsicSize = `auto ${Math.max(1, piece.split("\n").length - 1) * 1.6}em`;
      this.addPart(element, [makeUnit([/** @type {Text} */ (element.firstChild)])]);
      yield;
    }
  }

  /**
   * Take HTML that the server has made safe, in parts of some paragraphs.
   * @param {string} html
   */
  *takeHtml(html) {
    const box = document.createElement("template");
    box.innerHTML = html;
    yield;
    let part = make("div", "part"), characters = 0;
    for (const node of [...box.content.childNodes]) {
      part.append(node);
      characters += (node.textContent ?? "").length;
      if (characters < PART_CHARACTERS) continue;
      this.addPart(part, listUnits(part));
      [part, characters] = [make("div", "part"), 0];
      yield;
    }
    if (part.hasChildNodes()) this.addPart(part, listUnits(part));
  }

  /**
   * @param {HTMLElement} element
   * @param {Unit[]} units
   */
  addPart(element, units) {
    for (const unit of units) {
      unit.index = this.length;
      this.length += unit.text.length;
      unit.terms = this.matches < MOST_MATCHES ? findTerms(unit.text, this.terms) : [];
      this.matches += unit.terms.length;
    }
    this.best = undefined;
    this.parts.push({ element, units });
    this.element.append(element);
    if (this.parts.length > PARTS_AT_ONCE) return;
    element.classList.add("open");
    for (const unit of units) paint(unit);
  }

  /** Whether all of it is marked, so that nothing depends on what is in the view. */
  get isShort() { return this.parts.length <= PARTS_AT_ONCE; }

  /**
   * Return every match in order.
   * @param {MarkKind} kind
   */
  listMatches(kind) {
    /** @type {Match[]} */
    const matches = [];
    this.parts.forEach((part, number) => {
      for (const unit of part.units) for (let i = 0; i < unit[kind].length; i++) matches.push([number, unit, i]);
    });
    return matches;
  }

  /** Return the number of the first match of the stretch that holds the most different terms (rare ones count more). */
  findBest() {
    if (this.best === undefined) this.best = this.searchBest();
    return this.best;
  }

  searchBest() {
    const all = this.matches > 20000 ? [] : this.listMatches("terms").map(([, unit, i]) => ({ index: unit.index + unit.terms[i][0], term: unit.terms[i][2] }));
    /** @type {Map<string, number>} */
    const counts = new Map();
    /** @type {Map<string, number>} */
    const countsInWindow = new Map();
    for (const { term } of all) counts.set(term, (counts.get(term) ?? 0) + 1);
    /** @param {string} term */
    const weigh = (term) => 1 + Math.log(all.length / (counts.get(term) ?? 1));
    let best = null, bestScore = 0, score = 0, first = 0;
    for (const { index, term } of all) {
      const count = countsInWindow.get(term) ?? 0;
      countsInWindow.set(term, count + 1);
      score += count ? 0.1 : weigh(term);
      for (; all[first].index < index - WINDOW; first++) {
        const left = all[first].term, remaining = (countsInWindow.get(left) ?? 1) - 1;
        countsInWindow.set(left, remaining);
        score -= remaining ? 0.1 : weigh(left);
      }
      if (score > bestScore + 1e-9) [bestScore, best] = [score, first];
    }
    return best;
  }

  /**
   * Look for the needle in everything, in steps.
   * @param {string} needle
   */
  *look(needle) {
    this.needle = needle;
    this.hitCount = 0;
    const searchNumber = ++this.searchNumber;
    for (const part of this.parts) {
      for (const unit of part.units) {
        const hadHits = unit.hits.length > 0;
        unit.hits = needle && this.hitCount < MOST_MATCHES ? findWords(unit.text, needle) : [];
        this.hitCount += unit.hits.length;
        if (hadHits && unit.painted) paint(unit);
      }
      yield;
      if (searchNumber !== this.searchNumber) return;
    }
  }

  /**
   * Mark what is near the view. A short text is marked as a whole, which asks for no position.
   * @param {HTMLElement} region
   */
  paintNear(region) {
    if (this.isShort) {
      for (const part of this.parts) for (const unit of part.units) paint(unit);
      return;
    }
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

  /**
   * Return the element of a match, laid out for certain.
   * @param {Match} match
   * @param {MarkKind} kind
   */
  reach([number, unit, i], kind) {
    for (const part of this.parts.slice(Math.max(0, number - 1), number + 2)) part.element.classList.add("open");
    paint(unit);
    return unit.marks[kind][i]?.[0] ?? this.parts[number].element;
  }

  /**
   * Return the number of the first match that is not above the view.
   * @param {MarkKind} kind
   * @param {HTMLElement} region
   */
  findFirstInView(kind, region) {
    const top = region.getBoundingClientRect().top;
    const firstPart = this.parts.findIndex((part) => part.element.getBoundingClientRect().bottom > top);
    const matches = this.listMatches(kind);
    let at = matches.findIndex(([number]) => number >= firstPart);
    while (at >= 0 && at < matches.length && matches[at][0] === firstPart && this.reach(matches[at], kind).getBoundingClientRect().bottom < top) at++;
    return at < 0 || at >= matches.length ? 0 : at;
  }
}

/**
 * @param {Text[]} nodes
 * @returns {Unit}
 */
function makeUnit(nodes) {
  const slots = nodes.map((node) => ({ text: node.data, nodes: [node] }));
  return { slots, text: slots.map((slot) => slot.text).join(""), index: 0, terms: [], hits: [], marks: { terms: [], hits: [] }, painted: null };
}

/**
 * Return the texts below an element, those of one paragraph (cell, item, …) together.
 * @param {HTMLElement} element
 */
function listUnits(element) {
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  /** @type {Unit[]} */
  const units = [];
  /** @type {Element | null | undefined} */
  let block = null;
  /** @type {Text[]} */
  let nodes = [];
  const close = () => {
    if (nodes.some((node) => node.data.trim())) units.push(makeUnit(nodes));
    nodes = [];
  };
  while (walker.nextNode()) {
    const node = /** @type {Text} */ (walker.currentNode);
    const nodeBlock = node.parentElement?.closest(BLOCKS);
    if (nodeBlock !== block) close();
    block = nodeBlock;
    nodes.push(node);
  }
  close();
  return units;
}

/**
 * Set the marks of a unit: what is found stands above the query's terms.
 * @param {Unit} unit
 */
function paint(unit) {
  const before = unit.painted;
  if (before && before.terms === unit.terms && before.hits === unit.hits) return;
  unit.painted = { terms: unit.terms, hits: unit.hits };
  const wasMarked = before !== null && (before.terms.length > 0 || before.hits.length > 0);
  if (!unit.terms.length && !unit.hits.length && !wasMarked) return;
  const spans = [...unit.hits.map(([start, end], i) => makeMarkSpan(start, end, "hits", i)), ...cutTermsAtHits(unit.terms, unit.hits)].sort((a, b) => a[0] - b[0]);
  unit.marks = { terms: unit.terms.map(() => []), hits: unit.hits.map(() => []) };
  let at = 0, next = 0;
  for (const slot of unit.slots) {
    const end = at + slot.text.length;
    /** @type {ChildNode[]} */
    const nodes = [];
    let done = at;
    for (let i = next; i < spans.length && spans[i][0] < end; i++) {
      const [start, stop, kind, number] = spans[i];
      const from = Math.max(start, at), to = Math.min(stop, end);
      if (to <= from) continue;
      if (from > done) nodes.push(document.createTextNode(unit.text.slice(done, from)));
      const mark = make("mark", kind === "hits" ? "hit" : "", unit.text.slice(from, to));
      unit.marks[kind][number].push(mark);
      nodes.push(mark);
      done = to;
    }
    while (next < spans.length && spans[next][1] <= end) next++;
    if (done < end || !nodes.length) nodes.push(document.createTextNode(unit.text.slice(done, end)));
    if (nodes.length > 1 || slot.nodes.length > 1 || nodes[0].nodeType !== slot.nodes[0].nodeType) {
      slot.nodes[0].before(...nodes);
      for (const old of slot.nodes) old.remove();
      slot.nodes = nodes;
    } else if (nodes[0].nodeName === "MARK") {
      slot.nodes[0].replaceWith(nodes[0]);
      slot.nodes = nodes;
    }
    at = end;
  }
}

/** @typedef {[start: number, end: number, kind: MarkKind, number: number]} MarkSpan */

/**
 * @param {number} start
 * @param {number} end
 * @param {MarkKind} kind
 * @param {number} number
 * @returns {MarkSpan}
 */
function makeMarkSpan(start, end, kind, number) { return [start, end, kind, number]; }

/**
 * Return the terms' spans, cut where something that was looked for stands.
 * @param {TermSpan[]} terms
 * @param {[start: number, end: number][]} hits
 */
function cutTermsAtHits(terms, hits) {
  /** @type {MarkSpan[]} */
  const spans = [];
  terms.forEach(([start, end], i) => {
    let from = start;
    for (const [first, last] of hits) {
      if (last <= from || first >= end) continue;
      if (first > from) spans.push([from, first, "terms", i]);
      from = Math.max(from, last);
    }
    if (from < end) spans.push([from, end, "terms", i]);
  });
  return spans;
}

/**
 * Yield some lines at a time, each with its line end; a line without end is cut into pieces, between two characters.
 * @param {string} text
 */
function* cutPieces(text) {
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

/**
 * Run the steps, a few milliseconds at a time. Resolves to whether all of them ran.
 * @param {Iterator<unknown>} steps
 * @param {() => boolean} [wanted] whether to go on
 */
export async function runQuietly(steps, wanted = () => true) {
  for (let until = performance.now() + 6; wanted(); ) {
    if (steps.next().done) return true;
    if (performance.now() < until) continue;
    await new Promise((go) => setTimeout(go));
    until = performance.now() + 6;
  }
  return false;
}

/** @param {Iterator<unknown>} steps */
export function runAtOnce(steps) { while (!steps.next().done); }
