// The part of a document's text that fits a query best, as a list shows it.

import { findQueryTerms } from "../../kit/panel/document_view.js";
import { make } from "../../kit/panel/elements.js";
import { findTerms } from "../../kit/panel/query_terms.js";

const SNIPPET_LENGTH = 160;
const SNIPPET_OF = 6000;
const MOST_SPANS = 200;
/** The same rules as in domain/excerpts.py, by media type. @type {Record<string, [RegExp, string][]>} */
const MARKUP = {
  "text/markdown": [
    [/<!--[^]*?(?:-->|$(?![^]))/g, " "], [/<\/?[a-z][^<>\n]*>/gi, " "], [/!?\[([^[\]\n]*)\]\([^()\n]*\)/g, "$1"],
    [/(\*\*?|``?)(?![\s*`])([^*`\n]*[^\s*`])\1/g, "$2"], [/\\([!-/:-@[-`{-~])/g, "$1"],
  ],
  "text/x-rst": [
    [/^\.\. (?:\||raw::|image::|figure::).*(?:\n[ \t]*$)*(?:\n[ \t]+\S.*)*/gm, ""], [/^[ \t]*\.\.(?: .*)?$/gm, ""], [/^[ \t]*:[\w-]+:(?:[ \t].*)?$/gm, ""],
    [/(?::[\w:+.-]{1,60}:)?`([^`<>\n]*?)[ \t]*(?:<[^`<>\n]*>)?`_{0,2}(?!`)/g, "$1"], [/\|br\|/gi, " "], [/\|([^|\s](?:[^|\n]*[^|\s])?)\|_{0,2}/g, "$1"],
    [/(\*\*?|``?)(?![\s*`])([^*`\n]*[^\s*`])\1/g, "$2"], [/\\ |\\(?=[!-/:-@[-`{-~])/g, ""],
  ],
};
/** @type {[RegExp, string][]} */
const SIGNS = [[/^[ \t]*(?:#{1,6}[ \t]+|#{2,}|```.*|~~~.*)/gm, ""], [/^[\s=\-~^*#_+|:.`"']+$/gm, " "]];

/** @typedef {import("../../kit/panel/query_terms.js").Terms} Terms */
/** @typedef {import("../../kit/panel/query_terms.js").TermSpan} TermSpan */
/** @typedef {import("../../kit/panel/messages.js").ShownPair} ShownPair */

/**
 * Return the part of the document where most of the query's terms stand close together, with them marked.
 * @param {ShownPair} pair
 */
export function cutSnippet(pair) {
  const terms = findQueryTerms(pair.query.text);
  const whole = pair.document.text ?? "", text = readWords(whole.slice(0, SNIPPET_OF), pair.document.media_type);
  const start = findDensestStart(text, findTerms(text, terms));
  const shown = text.slice(start, start + SNIPPET_LENGTH).replace(/\s+/g, " ");
  const goesOn = start + SNIPPET_LENGTH < text.length || whole.length > SNIPPET_OF;
  return [start ? "… " : "", ...markTerms(shown, terms), goesOn ? " …" : ""];
}

/**
 * Return a document's words without its markup: a list shows them as the formatted document does.
 * @param {string} text
 * @param {string | null} mediaType
 */
function readWords(text, mediaType) {
  if (mediaType !== "text/html") return [...MARKUP[mediaType ?? ""] ?? [], ...SIGNS].reduce((shown, [pattern, by]) => shown.replace(pattern, by), text);
  const page = new DOMParser().parseFromString(text, "text/html");  // inert: nothing in it runs or is fetched
  for (const element of page.querySelectorAll("script, style, template")) element.remove();
  return page.body.textContent ?? "";
}

/**
 * Return where the stretch with the most different terms begins.
 * @param {string} text
 * @param {TermSpan[]} spans
 */
function findDensestStart(text, spans) {
  let best = 0, bestCount = 0, first = 0;
  /**
   * @param {number} from
   * @param {number} to
   */
  const countDifferent = (from, to) => new Set(spans.slice(from, to + 1).map(([start, end]) => text.slice(start, end).toLowerCase())).size;
  for (let last = 0; last < Math.min(spans.length, MOST_SPANS); last++) {
    while (spans[last][1] - spans[first][0] > SNIPPET_LENGTH - 30) first++;
    const count = first <= last ? countDifferent(first, last) : 0;
    if (count <= bestCount) continue;
    bestCount = count;
    best = Math.max(0, spans[first][0] - 30);
  }
  return best;
}

/**
 * Return a text in pieces, with the terms marked.
 * @param {string} text
 * @param {Terms} terms
 * @returns {(string | HTMLElement)[]}
 */
export function markTerms(text, terms) {
  /** @type {(string | HTMLElement)[]} */
  const parts = [];
  let at = 0;
  for (const [start, end] of findTerms(text, terms)) {
    if (start < at) continue;
    parts.push(text.slice(at, start), make("mark", "", text.slice(start, end)));
    at = end;
  }
  return [...parts, text.slice(at)];
}
