// Finds a query's terms, or any words, in a text. The browser's own segmentation cuts a query into words
// (without it: bigrams); names are also looked for by their parts: camelCase, snake_case, dotted, slashed.
// Ignores case and full or half width. Words that say nothing by themselves (empty_words.js) and words of one character
// are not looked for; the latter are where a query has nothing else.

import { EMPTY_WORDS, PARTICLES } from "./empty_words.js";

const WORD = /[\p{L}\p{N}\p{M}_]+/gu;
const CAMEL = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|[\p{Lo}\p{Lm}\p{M}]+|\p{N}+/gu;
// Scripts whose words may begin and end anywhere: a term of theirs is looked for inside longer words too.
const JOINED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;
// A character that says little alone with the number or letters it stands at: 第17条, X線, 제3조, 5年.
const NUMBERED = /(?:[\p{Script=Han}제](?=\p{N}))?(?<![\p{Script=Latin}\p{N}])(?:\p{N}+|\p{Script=Latin})(?:\p{Script=Han}|조|항|호|년|월|일)(?![\p{Script=Han}\p{Script=Katakana}ー])/gu;
const JOINED_RUNS = /\p{Script=Han}+|\p{Script=Hiragana}+|[\p{Script=Katakana}ー]+|\p{Script=Hangul}+|[\p{Script=Thai}\p{M}]+|[\p{Script=Lao}\p{M}]+|[\p{Script=Khmer}\p{M}]+|[\p{Script=Myanmar}\p{M}]+/gu;

// A character with what belongs to it: its marks, half-width voicing marks, the parts of a Hangul syllable.
const CHARACTER = /[\u1100-\u115f][\u1160-\u11a7]?[\u11a8-\u11ff]?|[^][\p{M}\uff9e\uff9f]*/gu;
// What is not nearly all there is: characters that may become more or fewer when they are folded.
const ODD = /[^\u0000-\u007f\u00b7\u00c0-\u00ff\u0400-\u045f\u2010-\u2022\u25a0-\u25ff\u3000-\u3030\u3041-\u3096\u30a1-\u30fe\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60]+/g;

/**
 * What to look for in a text.
 * @typedef {object} Terms
 * @property {Set<string>} wholeWords they stand alone, or as a part of a name
 * @property {Set<string>} parts they stand anywhere
 * @property {RegExp | null} any matches a text in which anything can be found
 * @property {RegExp | null} joined matches one of the parts
 */

/** Where a term begins and ends in a text, and the term. @typedef {[start: number, end: number, term: string]} TermSpan */

/** A stretch of a text whose compared form is longer or shorter. @typedef {[index: number, length: number, foldedIndex: number, foldedLength: number]} Stretch */

/**
 * Return the text in its compared form, and for each index in it the index in the text that it came from (null: the same).
 * @param {string} text
 */
function fold(text) {
  /** @type {Stretch[]} */
  const stretches = [];
  let form = "", done = 0;
  for (const { 0: odd, index } of text.matchAll(ODD)) {
    let position = Math.max(done, index - 1);  // what is odd may belong to the character before it
    form += text.slice(done, position).normalize("NFKC").toLowerCase();
    for (const [character] of text.slice(position, index + odd.length).matchAll(CHARACTER)) {
      const folded = character.normalize("NFKC").toLowerCase();
      if (folded.length !== character.length) stretches.push([position, character.length, form.length, folded.length]);
      form += folded;
      position += character.length;
    }
    done = position;
  }
  form += text.slice(done).normalize("NFKC").toLowerCase();
  return { form, from: stretches.length ? listOrigins(stretches, form.length) : null };
}

/**
 * @param {Stretch[]} stretches
 * @param {number} length
 */
function listOrigins(stretches, length) {
  const from = new Int32Array(length + 1);
  let at = 0, shift = 0;
  for (const [index, long, start, now] of stretches) {
    for (; at < start; at++) from[at] = at + shift;
    for (; at < start + now; at++) from[at] = index;
    shift += long - now;
  }
  for (; at <= length; at++) from[at] = at + shift;
  return from;
}

/** @param {string} text */
function escapeForSearch(text) { return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"); }

/**
 * Return what to look for in a text for a query.
 * @param {string} query
 * @returns {Terms}
 */
export function extractTerms(query) {
  /** @type {Set<string>} */
  const wholeWords = new Set();
  /** @type {Set<string>} */
  const parts = new Set();
  const wide = query.normalize("NFKC");
  for (const name of wide.match(WORD) ?? []) {
    const spelled = name.replace(JOINED, " ").split(/[\s_]+/);
    for (const piece of [name, ...spelled]) {
      if (piece.match(JOINED)) continue;
      for (const word of [piece, ...(piece.match(CAMEL) ?? [])].map((w) => w.toLowerCase()))
        if ([...word].length > 1 && !EMPTY_WORDS.has(word)) wholeWords.add(word);
    }
  }
  for (const word of segmentWords(wide)) for (const part of splitWord(word)) if (!EMPTY_WORDS.has(part)) parts.add(part);
  for (const [run] of wide.matchAll(/\p{Script=Han}{2,}/gu)) for (const name of cutAtEmpty(run)) if (name.length > 1 && name.length < 9) parts.add(name);
  for (const [name] of wide.toLowerCase().matchAll(NUMBERED)) parts.add(name);
  if (!wholeWords.size && !parts.size) takeShortWords(wide, wholeWords, parts);
  return { wholeWords, parts, ...makePatterns(wholeWords, parts) };
}

/**
 * Add the words of a query that has nothing but short ones.
 * @param {string} wide
 * @param {Set<string>} wholeWords
 * @param {Set<string>} parts
 */
function takeShortWords(wide, wholeWords, parts) {
  for (const run of wide.toLowerCase().match(WORD) ?? []) if (!run.match(JOINED) && !EMPTY_WORDS.has(run)) wholeWords.add(run);
  for (const word of segmentWords(wide)) {
    const stem = word.replace(PARTICLES, "") || word;
    if (!EMPTY_WORDS.has(word) && !EMPTY_WORDS.has(stem)) parts.add(stem);
  }
}

/**
 * Cut a run of Chinese characters where one of them is a particle.
 * @param {string} run
 */
function cutAtEmpty(run) {
  return [...run].map((character) => (EMPTY_WORDS.has(character) ? " " : character)).join("").split(" ").filter((name) => !EMPTY_WORDS.has(name));
}

/**
 * @param {Set<string>} wholeWords
 * @param {Set<string>} parts
 */
function makePatterns(wholeWords, parts) {
  const longest = [...parts].sort((a, b) => b.length - a.length);
  const all = [...wholeWords, ...longest].map(escapeForSearch);
  /** @param {string} part */
  const whole = (part) => (/^[\p{Script=Latin}\p{N}]/u.test(part) ? `(?<![\\p{Script=Latin}\\p{N}])${escapeForSearch(part)}` : escapeForSearch(part));
  return {
    any: all.length ? new RegExp(all.join("|"), "u") : null,
    joined: longest.length ? new RegExp(longest.map(whole).join("|"), "gu") : null,
  };
}

/**
 * Yield the words of the scripts without spaces (and of Korean, whose words carry particles).
 * @param {string} text
 */
function* segmentWords(text) {
  if (!("Segmenter" in Intl)) {
    for (const [run] of text.matchAll(JOINED_RUNS)) {
      if (run.length === 1) yield run;
      if (!/[\p{Script=Hiragana}]/u.test(run)) for (let at = 0; at + 2 <= run.length; at++) yield run.slice(at, at + 2);
    }
    return;
  }
  for (const { segment, isWordLike } of new Intl.Segmenter("ja", { granularity: "word" }).segment(text))
    if (isWordLike) for (const [word] of segment.matchAll(JOINED)) yield word;
  for (const [run] of text.matchAll(/[\p{Script=Katakana}ー]{2,}/gu)) yield run;  // it may cut a foreign word in two
}

/**
 * Yield a word and those of its parts that are words themselves more often than not: beginnings and ends, and in compounds
 * of two-character words each of those.
 * @param {string} word
 */
function* splitWord(word) {
  if (EMPTY_WORDS.has(word)) return;
  const hangul = /^\p{Script=Hangul}+$/u.test(word);
  const stem = hangul && word.length > 2 ? word.replace(PARTICLES, "") : word;
  if (EMPTY_WORDS.has(stem)) return;
  const base = hangul || stem.length > 1 ? stem : word;
  if (base.length < 2) return;
  if (/^\p{Script=Hiragana}+$/u.test(base) && base.length < 3) return;
  yield base.toLowerCase();
  const least = hangul || /^\p{Script=Han}+$/u.test(base) ? 2 : /^[\p{Script=Katakana}ー]+$/u.test(base) ? 4 : 0;
  if (!least || base.length > 40) return;
  for (let end = least; end < base.length; end++) yield base.slice(0, end);
  const first = hangul && base.length === 3 ? 3 : 1;  // what ends a short Korean word is an ending more often than a word
  for (let start = first; start <= base.length - least; start++) if (!/^[ーァィゥェォッャュョ]/u.test(base.slice(start))) yield base.slice(start);
  if (least === 2) for (let at = 0; at + 2 <= base.length; at += 2) yield base.slice(at, at + 2);
}

/**
 * Return where the terms stand in the text, in order; neighbours that touch are one.
 * @param {string} text
 * @param {Terms} terms
 * @returns {TermSpan[]}
 */
export function findTerms(text, terms) {
  if (!terms.any) return [];
  const { form, from } = fold(text);
  if (!terms.any.test(form)) return [];
  /** @type {TermSpan[]} */
  const found = [];
  if (terms.wholeWords.size) for (const match of form.matchAll(WORD)) findNames(match, text, from, terms, found);
  if (terms.joined) {
    terms.joined.lastIndex = 0;
    for (let match = terms.joined.exec(form); match; match = terms.joined.exec(form)) {
      found.push([match.index, terms.joined.lastIndex, match[0]]);
      terms.joined.lastIndex = match.index + 1;
    }
  }
  found.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  /** @type {TermSpan[]} */
  const spans = [];
  for (const [start, end, term] of found) {
    const last = spans.at(-1);
    if (last && start <= last[1]) { if (end > last[1]) { last[1] = end; last[2] += ` ${term}`; } } else spans.push([start, end, term]);
  }
  return from ? spans.map(([start, end, term]) => [from[start], from[end], term]) : spans;
}

/**
 * Add the terms that a name of programs holds: the name itself, or its parts (camelCase, snake_case).
 * @param {RegExpExecArray} match
 * @param {string} text
 * @param {Int32Array | null} from
 * @param {Terms} terms
 * @param {TermSpan[]} found
 */
function findNames(match, text, from, terms, found) {
  const start = match.index, end = start + match[0].length;
  if (terms.wholeWords.has(match[0])) { found.push([start, end, match[0]]); return; }
  if (!terms.any?.test(match[0])) return;
  const original = text.slice(from ? from[start] : start, from ? from[end] : end).normalize("NFKC");
  if (original.length !== match[0].length) return;
  for (const part of original.matchAll(CAMEL))
    if (terms.wholeWords.has(part[0].toLowerCase())) found.push([start + part.index, start + part.index + part[0].length, part[0].toLowerCase()]);
  for (const piece of match[0].matchAll(/[^_\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Hangul}]+/gu))
    if (terms.wholeWords.has(piece[0])) found.push([start + piece.index, start + piece.index + piece[0].length, piece[0]]);
}

/**
 * Return where the very words looked for stand, by the same comparison.
 * @param {string} text
 * @param {string} needle
 * @returns {[start: number, end: number][]}
 */
export function findWords(text, needle) {
  const wanted = fold(needle).form.trim();
  if (!wanted) return [];
  const { form, from } = fold(text);
  /** @type {[number, number][]} */
  const spans = [];
  for (let at = form.indexOf(wanted); at >= 0; at = form.indexOf(wanted, at + wanted.length)) {
    const end = at + wanted.length;
    spans.push(from ? [from[at], from[end]] : [at, end]);
  }
  return spans;
}
