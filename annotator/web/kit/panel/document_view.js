// The document of the pair on the screen, in a scrolling region of its own: formatted or as its source, with the
// query's terms marked, a find box, and its metadata. What comes next is prepared ahead, in small steps, so that no
// document delays a key press. Texts are set as text; formatted documents come as safe HTML from /api/rendering.

import { runAfterPaint } from "./after_paint.js";
import { make, writeText } from "./elements.js";
import { takeFirstRendering } from "./first_answer.js";
import { MarkedText, runAtOnce, runQuietly } from "./marked_text.js";
import { extractTerms } from "./query_terms.js";

const SENT_CHARACTERS = 200000;  // as many of a text come with its pair
const MOST_PREPARED = 12;
const MOST_QUERIES = 20;  // whose terms are kept
const WAIT_MS = 350;
const FIRST_WAIT_MS = 1500;
const FIND_MS = 120;
const LONG_BEGINNING = 600;  // characters: a document opens at a best match only if it is further down
const ESCAPED = /(^ {0,3}(?:```|~~~)[^]*?^ {0,3}(?:```|~~~)|(`+)[^`]+\2)|\\([!-/:-@[-`{-~])|\*\*([\u2460-\u2473\u3251-\u325f\u32b1-\u32bf])\*\*/gm;
const SOURCE_FILE = /\.(?!(?:txt|md|rst|html?|pdf|docx?)(?:#|$))\w{1,12}(?:#|$)/i;

/** @typedef {import("./messages.js").ShownPair} ShownPair */
/** @typedef {import("./marked_text.js").MarkKind} MarkKind */
/** @typedef {import("./marked_text.js").Match} Match */
/** @typedef {"formatted" | "source"} TextMode */

/** A document as the server renders it. @typedef {{ kind: string, html: string, blocked?: number, cut?: boolean }} Rendering */

/**
 * A document that is shown or prepared.
 * @typedef {object} Prepared
 * @property {ShownPair} pair
 * @property {import("./query_terms.js").Terms} terms
 * @property {HTMLElement[]} head what stands above the text; the last one is a note
 * @property {Partial<Record<TextMode, MarkedText>>} texts
 * @property {Partial<Record<TextMode, Iterator<unknown>>>} steps what is left to do for each text
 * @property {Rendering | false | null} rendering false: there is none; null: it is not known yet
 * @property {Promise<void> | null} asked the request for the rendering
 * @property {MarkedText | null} shown the text on the screen
 * @property {TextMode | null} mode in which it is shown
 * @property {boolean} whole whether the whole text has been loaded
 * @property {boolean} cut whether only its beginning came
 */

/** Keeps the queries' terms, which many pairs share. @type {Map<string, import("./query_terms.js").Terms>} */
const termsByQuery = new Map();

/** @param {string} query */
export function findQueryTerms(query) {
  let terms = termsByQuery.get(query);
  if (!terms) {
    if (termsByQuery.size >= MOST_QUERIES) termsByQuery.clear();
    terms = extractTerms(query);
    termsByQuery.set(query, terms);
  }
  return terms;
}

export class DocumentView {
  /**
   * `isProposed`: the document is in no pair yet, so the server is asked for it by its id, and only for its beginning.
   * @param {HTMLElement} host
   * @param {{ dataset: string, language: string, words: import("./sentences.js").Words, isProposed?: boolean }} settings
   */
  constructor(host, { dataset, language, words, isProposed = false }) {
    this.dataset = dataset;
    this.language = language;
    this.isProposed = isProposed;
    this.words = words;
    /** @type {Map<string, Prepared>} by pair, the ones used last at the end */
    this.prepared = new Map();
    /** @type {Prepared | null} */
    this.current = null;
    this.turn = 0;
    this.needle = "";
    /** @type {number | null} the number of the match that was gone to */
    this.matchNumber = null;
    /** @type {number | null} the number of the best match, if the document opened there */
    this.bestMatch = null;
    /** @type {HTMLElement[]} the marks of the match that was gone to */
    this.matchMarks = [];
    /** @type {number | undefined} */
    this.typing = undefined;
    /** @type {number | null} */
    this.painting = null;

    this.matchCount = make("span", "count");
    this.startButton = this.makeTool("quiet", words.doc_start, "", () => this.toggleStart());
    this.sourceButton = this.makeTool("quiet", words.doc_source, "", () => this.toggleSource());
    this.stepButtons = [
      this.makeSign("↑", words.doc_previous, "[", () => this.goToMatch(-1)),
      this.makeSign("↓", words.doc_next, "]", () => this.goToMatch(1)),
    ];
    this.findButton = this.makeTool("quiet", words.doc_find, "/", () => this.openFind());
    this.findButton.append(make("kbd", "", "/"));
    this.tools = make("div", "doctools");
    this.tools.setAttribute("role", "group");
    this.tools.setAttribute("aria-label", words.doc_tools);
    this.tools.append(this.matchCount, ...this.stepButtons, this.startButton, make("span", "gap"), this.sourceButton, this.findButton);

    this.input = this.makeFindInput();
    this.hitCount = make("span", "count");
    this.findBox = make("div", "doctools findbox");
    this.findBox.setAttribute("role", "search");
    this.findBox.hidden = true;
    this.findBox.append(
      this.input, this.hitCount,
      this.makeSign("↑", words.doc_previous, "Shift+Enter", () => this.goToMatch(-1)),
      this.makeSign("↓", words.doc_next, "Enter", () => this.goToMatch(1)),
      this.makeSign("✕", words.doc_close, "Escape", () => this.leaveFind()),
    );

    this.region = make("div", "document");
    this.region.tabIndex = 0;
    this.region.setAttribute("role", "region");
    this.region.setAttribute("aria-label", words.doc_label);
    this.region.addEventListener("scroll", () => this.paintAfterScroll(), { passive: true });
    this.live = make("div", "unseen");
    this.live.setAttribute("aria-live", "polite");
    host.replaceChildren(this.tools, this.findBox, this.region, this.live);
  }

  // ---- what the panel calls -----------------------------------------------------------------------------

  /** @param {ShownPair} pair */
  prepare(pair) {
    try {
      const prepared = this.findPrepared(pair);
      if (prepared.asked) prepared.asked.then(() => this.work(prepared));
      else this.work(prepared);
    } catch (error) { console.warn("a document could not be prepared", error); }
  }

  /** @param {ShownPair} pair */
  show(pair) {
    const before = this.current;
    if (before?.whole && before.pair.pair !== pair.pair) this.prepared.delete(before.pair.pair);
    const prepared = this.findPrepared(pair), turn = ++this.turn;
    if (this.region.scrollTop) this.region.scrollTop = 0;  // first: once something has changed, this would lay out the whole page
    this.current = prepared;
    this.closeFind();
    this.say("");
    const mode = this.chooseMode(prepared);
    if (mode !== null) return this.place(prepared, mode);
    this.layOut(prepared, make("div", "text"));
    this.paintTools();
    // What comes in an instant is waited for, and then nothing is swapped any more.
    const settle = () => { if (turn === this.turn && !prepared.shown) this.place(prepared, this.chooseMode(prepared) ?? "source"); };
    prepared.asked?.then(settle);
    setTimeout(settle, before ? WAIT_MS : FIRST_WAIT_MS);
  }

  openFind() {
    if (!this.current?.shown) return;
    this.findBox.hidden = false;
    this.tools.hidden = true;
    this.input.value = this.needle;
    this.input.focus();
    this.input.select();
    if (this.needle) this.look(this.needle);
  }

  /** @param {1 | -1} step */
  goToMatch(step) {
    const text = this.current?.shown, kind = this.chooseKind();
    if (!text) return;
    const matches = text.listMatches(kind);
    if (!matches.length) return;
    if (this.matchNumber !== null) this.matchNumber = (this.matchNumber + step + matches.length) % matches.length;
    else this.matchNumber = step > 0 ? text.findFirstInView(kind, this.region) : matches.length - 1;
    this.bringToView(matches[this.matchNumber], kind);
    this.paintTools();
    this.say(kind === "hits" ? this.describeHits() : this.describeMatches());
  }

  /** @param {1 | -1} step */
  scroll(step) { this.region.scrollBy({ top: step * this.region.clientHeight * 0.85 }); }

  focus() { this.region.focus({ preventScroll: true }); }

  /** @param {string} pairKey */
  forget(pairKey) { this.prepared.delete(pairKey); }

  // ---- preparing ----------------------------------------------------------------------------------------

  /** @param {ShownPair} pair */
  findPrepared(pair) {
    const existing = this.prepared.get(pair.pair);
    if (existing) {
      this.prepared.delete(pair.pair);  // the ones used last stand at the end
      this.prepared.set(pair.pair, existing);
      return existing;
    }
    for (const [key, old] of this.prepared) if (this.prepared.size >= MOST_PREPARED && old !== this.current) this.prepared.delete(key);
    const { doc_id, text, media_type, length } = pair.document;
    /** @type {Prepared} */
    const prepared = {
      pair, terms: findQueryTerms(pair.query.text), head: this.makeHead(pair), texts: {}, steps: {}, rendering: null, asked: null, shown: null, mode: null,
      whole: false, cut: text !== null && length > countCharacters(text),
    };
    this.prepared.set(pair.pair, prepared);
    if (text && (media_type !== "text/plain" || SOURCE_FILE.test(doc_id))) prepared.asked = this.askRendering(prepared);
    return prepared;
  }

  /** @param {Prepared} prepared */
  async askRendering(prepared) {
    try {
      const address = `/api/rendering?${this.addressOf(prepared)}`;
      const answer = await (takeFirstRendering(address) ?? fetch(address, { credentials: "same-origin", signal: AbortSignal.timeout(10000) }));
      /** @type {Rendering | null} */
      const rendering = answer.ok ? await answer.json() : null;
      prepared.rendering = rendering && rendering.kind !== "text" ? rendering : false;
    } catch { prepared.rendering = false; }
    if (prepared === this.current) this.paintTools();
  }

  /** @param {Prepared} prepared */
  addressOf({ pair }) {
    const name = this.isProposed ? `doc_id=${encodeURIComponent(pair.document.doc_id)}` : `pair=${encodeURIComponent(pair.pair)}`;
    return `dataset=${encodeURIComponent(this.dataset)}&${name}`;
  }

  /**
   * Return how to show a document; null while it is not known yet.
   * @param {Prepared} prepared
   * @returns {TextMode | "missing" | null}
   */
  chooseMode(prepared) {
    if (!prepared.pair.document.text) return "missing";
    if (prepared.mode) return prepared.mode;
    if (!prepared.asked || prepared.rendering === false) return "source";
    if (prepared.rendering === null) return null;
    return prefersFormatted(prepared.rendering.kind) ? "formatted" : "source";
  }

  /** @param {Prepared} prepared */
  work(prepared) {
    const mode = this.chooseMode(prepared);
    if (mode === "missing" || mode === null || prepared.texts[mode]) return;
    this.begin(prepared, mode);
    runQuietly(listSteps(prepared, mode), () => this.prepared.get(prepared.pair.pair) === prepared);
  }

  /**
   * @param {Prepared} prepared
   * @param {TextMode} mode
   */
  begin(prepared, mode) {
    const { rendering, terms, pair } = prepared;
    const text = new MarkedText(mode === "formatted" && rendering ? `text formatted ${rendering.kind}` : nameSourceClass(prepared), terms);
    prepared.texts[mode] = text;
    prepared.steps[mode] = mode === "formatted" && rendering ? text.takeHtml(rendering.html) : text.takeText(readSource(pair.document.text ?? "", pair.document.media_type));
    return text;
  }

  /**
   * @param {Prepared} prepared
   * @param {TextMode} mode
   */
  finish(prepared, mode) {
    const text = prepared.texts[mode] ?? this.begin(prepared, mode);
    runAtOnce(listSteps(prepared, mode));
    return text;
  }

  /** @param {ShownPair} pair */
  makeHead({ document: { title, doc_id, url, metadata } }) {
    const heading = make("h2", "", title || doc_id);
    heading.dir = "auto";
    const id = make("div", "docid", doc_id);
    if (url && /^https?:\/\//i.test(url)) {
      const link = make("a", "", url);
      Object.assign(link, { href: url, target: "_blank", rel: "noopener noreferrer", title: this.words.doc_newtab });
      id.append(make("br"), link);
    }
    const note = make("p", "docnote");
    note.hidden = true;
    return [heading, id, ...this.makeTable(metadata ?? {}), note];
  }

  /** @param {Record<string, string | number | null>} metadata */
  makeTable(metadata) {
    const rows = Object.entries(metadata).filter(([, text]) => text !== null && text !== "");
    if (!rows.length) return [];
    const table = make("table", "metadata");
    table.setAttribute("aria-label", this.words.doc_about);
    for (const [column, text] of rows) {
      const row = table.insertRow();
      const name = make("th", "", column);
      name.scope = "row";
      const cell = make("td", "", text);
      cell.dir = "auto";
      row.append(name, cell);
    }
    return [table];
  }

  // ---- showing ------------------------------------------------------------------------------------------

  /**
   * @param {Prepared} prepared
   * @param {HTMLElement} element
   * @param {HTMLElement[]} after
   */
  layOut(prepared, element, ...after) {
    this.matchNumber = null;
    this.bestMatch = null;
    this.region.replaceChildren(...prepared.head, element, ...after);
  }

  /**
   * Put a document on the screen; at its best match if it is long, or scrolled as `scrollTop` says. Asks for no position of
   * anything where that is not needed: for each question after a change the browser lays out the page anew.
   * @param {Prepared} prepared
   * @param {TextMode | "missing"} mode
   * @param {number | null} [scrollTop]
   */
  place(prepared, mode, scrollTop = null) {
    if (mode === "missing") {
      const words = prepared.pair.document.text === null ? this.words.doc_notext : this.words.doc_empty;
      this.layOut(prepared, make("div", "missing", words));
      return this.paintTools();
    }
    const text = this.finish(prepared, mode);
    prepared.mode = mode;
    prepared.shown = text;
    this.layOut(prepared, text.element, ...(prepared.cut && !prepared.whole ? [this.makeEnd(prepared)] : []));
    this.paintNote(prepared);
    if (scrollTop !== null) this.region.scrollTop = scrollTop;
    else this.openAtBest(text);
    if (scrollTop !== null || text.isShort) text.paintNear(this.region);
    else runAfterPaint(() => { if (text === this.current?.shown) text.paintNear(this.region); });  // its beginning is marked
    this.paintTools();
  }

  /**
   * Go to the best match of a document that is longer than two views.
   * @param {MarkedText} text
   */
  openAtBest(text) {
    const best = text.length > LONG_BEGINNING ? text.findBest() : null;
    if (best === null) return;
    const [, unit, number] = text.listMatches("terms")[best];
    if (unit.index + unit.terms[number][0] <= LONG_BEGINNING || this.region.scrollHeight <= 2 * this.region.clientHeight) return;
    this.bestMatch = best;
    this.goToBest(text);
  }

  /** @param {MarkedText} text */
  goToBest(text) {
    if (this.bestMatch === null) return;
    this.matchNumber = this.bestMatch;
    this.bringToView(text.listMatches("terms")[this.bestMatch], "terms");
  }

  /**
   * Bring a match to the upper third of the view.
   * @param {Match} match
   * @param {MarkKind} kind
   */
  bringToView(match, kind) {
    const text = this.current?.shown;
    if (!text) return;
    const element = text.reach(match, kind);
    const aim = () => {
      const by = element.getBoundingClientRect().top - this.region.getBoundingClientRect().top - this.region.clientHeight / 3;
      if (Math.abs(by) > 1) this.region.scrollTop += by;
    };
    aim();
    aim();
    const wide = element.closest("pre,table");
    if (wide) element.scrollIntoView({ block: "nearest", inline: "nearest" });
    for (const mark of this.matchMarks) mark.classList.remove("here");
    this.matchMarks = match[1].marks[kind][match[2]] ?? [];
    for (const mark of this.matchMarks) mark.classList.add("here");
    text.paintNear(this.region);
  }

  /** @param {Prepared} prepared */
  paintNote(prepared) {
    const note = prepared.head[prepared.head.length - 1];
    const remarks = [];
    if (prepared.mode === "formatted" && prepared.rendering) {
      const { blocked, cut } = prepared.rendering;
      if (blocked) remarks.push(this.words.doc_blocked.replace("{n}", this.formatNumber(blocked)));
      if (cut) remarks.push(this.words.doc_cut);
    }
    note.textContent = remarks.join(" ");
    note.hidden = !remarks.length;
  }

  // ---- the whole document -------------------------------------------------------------------------------

  /** @param {Prepared} prepared */
  makeEnd(prepared) {
    if (this.isProposed) return make("p", "missing", this.words.propose_cut.replace("{n}", this.formatNumber((prepared.pair.document.text ?? "").length)));
    const button = make("button", "whole", this.words.doc_whole.replace("{n}", this.formatNumber(prepared.pair.document.length)));
    button.type = "button";
    button.onclick = () => this.showWhole(prepared, button);
    return button;
  }

  /**
   * Show the whole text, as its source. It comes piece by piece behind what is there already, and nothing moves.
   * @param {Prepared} prepared
   * @param {HTMLButtonElement} button
   */
  async showWhole(prepared, button) {
    button.disabled = true;
    button.textContent = this.words.doc_loading;
    const isWanted = () => this.current === prepared;
    try {
      const answer = await fetch(`/api/text?${this.addressOf(prepared)}`, { credentials: "same-origin" });
      if (!answer.ok || !answer.body) throw new Error(String(answer.status));
      const text = new MarkedText(nameSourceClass(prepared), prepared.terms);
      let painted = 0;
      for await (const lines of readLines(answer.body)) {
        if (!isWanted()) return;
        if (prepared.whole) await runQuietly(text.takeText(readSource(lines, prepared.pair.document.media_type)), isWanted);
        else {
          runAtOnce(text.takeText(readSource(lines, prepared.pair.document.media_type)));
          this.placeWhole(prepared, text);
        }
        if (performance.now() - painted > 300) {
          this.paintTools();
          painted = performance.now();
        }
      }
      if (isWanted()) this.paintTools();
      if (this.needle && !this.findBox.hidden && isWanted()) this.look(this.needle);
    } catch {
      prepared.whole = false;
      if (!isWanted()) return;
      button.disabled = false;
      button.textContent = this.words.doc_wholefailed;
      if (!button.isConnected) this.region.append(button);
    }
  }

  /**
   * @param {Prepared} prepared
   * @param {MarkedText} text
   */
  placeWhole(prepared, text) {
    prepared.whole = true;
    prepared.texts.source = text;
    prepared.steps.source = [].values();
    this.place(prepared, "source", prepared.mode === "source" ? this.region.scrollTop : 0);
    this.focus();
  }

  // ---- tools --------------------------------------------------------------------------------------------

  /**
   * @param {string} className
   * @param {string} text
   * @param {string} key
   * @param {() => void} does
   */
  makeTool(className, text, key, does) {
    const button = make("button", className, text);
    button.type = "button";
    if (key) button.setAttribute("aria-keyshortcuts", key);
    button.onclick = does;
    return button;
  }

  /**
   * @param {string} sign
   * @param {string} label
   * @param {string} key
   * @param {() => void} does
   */
  makeSign(sign, label, key, does) {
    const button = this.makeTool("step", sign, key, does);
    button.setAttribute("aria-label", label);
    button.title = `${label} (${key})`;
    return button;
  }

  makeFindInput() {
    const input = make("input");
    Object.assign(input, { type: "search", placeholder: this.words.doc_findlabel, autocomplete: "off", spellcheck: false, dir: "auto" });
    input.setAttribute("aria-label", this.words.doc_findlabel);
    input.addEventListener("input", () => {
      clearTimeout(this.typing);
      this.typing = setTimeout(() => this.look(input.value), FIND_MS);
    });
    input.addEventListener("keydown", (event) => this.pressInFind(event));
    return input;
  }

  /** @param {KeyboardEvent} event */
  pressInFind(event) {
    if (event.isComposing || event.keyCode === 229) return;
    if (event.key === "Escape" || (event.key === "Enter" && !this.input.value.trim())) {
      event.preventDefault();
      event.stopPropagation();
      return this.leaveFind();
    }
    if (event.key !== "Enter") return;
    event.preventDefault();
    if (this.input.value === this.needle) return this.goToMatch(event.shiftKey ? -1 : 1);
    clearTimeout(this.typing);
    this.look(this.input.value);
  }

  leaveFind() {
    this.closeFind();
    this.focus();
  }

  closeFind() {
    clearTimeout(this.typing);
    if (this.findBox.hidden) return;
    this.findBox.hidden = true;
    this.tools.hidden = false;
    const shown = this.current?.shown;
    for (const prepared of this.prepared.values())
      for (const text of Object.values(prepared.texts)) if (text !== shown && text.needle) runAtOnce(text.look(""));
    if (shown) {
      runAtOnce(shown.look(""));
      shown.paintNear(this.region);
    }
    this.matchNumber = null;
    this.say("");
    this.paintTools();
  }

  /**
   * Look from where the reader is; the first place found is brought into view.
   * @param {string} needle
   */
  async look(needle) {
    this.needle = needle;
    this.matchNumber = null;
    const text = this.current?.shown, turn = this.turn;
    if (!text) return;
    const isWanted = () => turn === this.turn && text === this.current?.shown && needle === this.needle && !this.findBox.hidden;
    this.hitCount.textContent = "";
    if (!(await runQuietly(text.look(needle), isWanted)) || !isWanted()) return;
    text.paintNear(this.region);
    if (text.hitCount) this.goToMatch(1);
    else this.say(this.describeHits());
    this.paintTools();
  }

  toggleSource() {
    const prepared = this.current;
    if (!prepared?.rendering) return;
    const formatted = prepared.mode !== "formatted";
    preferFormatted(prepared.rendering.kind, formatted);
    for (const other of this.prepared.values()) if (other !== prepared) other.mode = null;
    this.closeFind();
    const share = this.region.scrollTop / Math.max(1, this.region.scrollHeight - this.region.clientHeight);
    this.place(prepared, formatted ? "formatted" : "source", 0);
    this.region.scrollTop = share * (this.region.scrollHeight - this.region.clientHeight);
    prepared.shown?.paintNear(this.region);
  }

  toggleStart() {
    const text = this.current?.shown;
    if (this.region.scrollTop > 0) {
      this.region.scrollTop = 0;
      this.matchNumber = null;
    } else if (text) this.goToBest(text);
    this.paintTools();
    this.focus();
  }

  paintAfterScroll() {
    if (this.painting !== null) return;
    this.painting = requestAnimationFrame(() => {
      this.painting = null;
      this.current?.shown?.paintNear(this.region);
      this.paintTools();
    });
  }

  /** @returns {MarkKind} what the keys go through */
  chooseKind() { return this.findBox.hidden || !this.needle ? "terms" : "hits"; }

  describeMatches() {
    const count = this.current?.shown?.matches ?? 0;
    if (!count) return "";
    const text = this.matchNumber === null || this.chooseKind() !== "terms" ? this.words.doc_matches
      : this.words.doc_match_at.replace("{at}", this.formatNumber(this.matchNumber + 1));
    return text.replace("{n}", this.formatNumber(count));
  }

  describeHits() {
    const prepared = this.current, text = prepared?.shown;
    if (!text?.needle.trim()) return "";
    const part = prepared?.cut && !prepared.whole ? ` ${this.words.doc_foundpart}` : "";
    if (!text.hitCount) return this.words.doc_foundnone + part;
    const sentence = this.matchNumber === null ? this.words.doc_found : this.words.doc_found_at.replace("{at}", this.formatNumber(this.matchNumber + 1));
    return sentence.replace("{n}", this.formatNumber(text.hitCount)) + part;
  }

  /** @param {number} number */
  formatNumber(number) { return number.toLocaleString(this.language); }

  paintTools() {
    const prepared = this.current, text = prepared?.shown;
    writeText(this.matchCount, this.describeMatches());
    writeText(this.hitCount, this.findBox.hidden ? "" : this.describeHits());
    for (const button of this.stepButtons) button.hidden = !text?.matches;
    this.startButton.hidden = this.bestMatch === null;
    if (!this.startButton.hidden) writeText(this.startButton, this.region.scrollTop > 0 ? this.words.doc_start : this.words.doc_best);
    this.sourceButton.style.visibility = prepared?.rendering && text ? "visible" : "hidden";
    this.sourceButton.setAttribute("aria-pressed", String(prepared?.mode === "source"));
    this.findButton.style.visibility = text ? "visible" : "hidden";
  }

  /** @param {string} text */
  say(text) { writeText(this.live, text); }
}

/**
 * @param {Prepared} prepared
 * @param {TextMode} mode
 */
function listSteps(prepared, mode) { return prepared.steps[mode] ?? [].values(); }

/**
 * Return the source as people read it: a Markdown file without the signs that only keep "1." and "①" from being markup.
 * @param {string} text
 * @param {string | null} mediaType
 */
function readSource(text, mediaType) {
  return mediaType === "text/markdown" ? text.replace(ESCAPED, (whole, code, _ticks, sign, number) => code ?? sign ?? number ?? whole) : text;
}

/** @param {Prepared} prepared */
function nameSourceClass(prepared) {
  return prepared.asked && prepared.pair.document.media_type !== "text/markdown" ? "text source" : "text";
}

/** @param {string} kind */
function nameFormattedKey(kind) { return `annotator/formatted/${kind}`; }

/** @param {string} kind */
function prefersFormatted(kind) {
  try { return localStorage.getItem(nameFormattedKey(kind)) !== "no"; } catch { return true; }
}

/**
 * @param {string} kind
 * @param {boolean} formatted
 */
function preferFormatted(kind, formatted) {
  try { localStorage.setItem(nameFormattedKey(kind), formatted ? "yes" : "no"); } catch { /* it holds for this document */ }
}

/** @param {string} text */
function countCharacters(text) { return text.length < SENT_CHARACTERS ? text.length : [...text].length; }

/**
 * Yield a stream's text as it comes, cut at line ends; the first piece is a long one.
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} stream
 */
async function* readLines(stream) {
  const reader = stream.getReader(), decoder = new TextDecoder();
  let rest = "", least = SENT_CHARACTERS;
  for (;;) {
    const { done, value } = await reader.read();
    rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
    if (done) {
      if (rest || least) yield rest;
      return;
    }
    const end = rest.lastIndexOf("\n") + 1;
    if (rest.length < least || !end) continue;
    yield rest.slice(0, end);
    rest = rest.slice(end);
    least = 0;
  }
}
