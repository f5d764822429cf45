// Finds a query's terms in a text, so that they can be marked. Knows no dictionary: words of letters and
// digits (also the parts of camelCase, dotted and slashed names), and for Japanese, Chinese and Korean every
// run of two or more characters that stands in the query too. Ignores case and full or half width.

const WORD = /[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Thai}\p{Script=Devanagari}\p{N}\p{M}_]+/gu;
const CAMEL = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|\p{N}+/gu;
const RUNS = /\p{Script=Han}+|[\p{Script=Katakana}ー]+|\p{Script=Hangul}+/gu;
const EMPTY_WORDS = new Set("a an and are as at be by do for from how if in is it of on or that the this to what when where which with".split(" "));
const MOST_MARKS = 3000;

// A character with what belongs to it: its marks, half-width voicing marks, the parts of a Hangul syllable.
const CHARACTER = /[\u1100-\u115f][\u1160-\u11a7]?[\u11a8-\u11ff]?|[^][\p{M}\uff9e\uff9f]*/gu;

// The text in its compared form, and for each place in it the place in the text that it came from.
function fold(text) {
  let form = "";
  const from = [];
  let place = 0;
  for (const [character] of text.matchAll(CHARACTER)) {
    const same = character.normalize("NFKC").toLowerCase();
    for (let i = 0; i < same.length; i++) from.push(place);
    form += same;
    place += character.length;
  }
  from.push(text.length);
  return { form, from };
}

// What to look for: whole words, and for scripts without spaces all parts (two characters or more) of each run.
function termsOf(query) {
  const words = new Set();
  const parts = new Set();
  const wide = query.normalize("NFKC");
  for (const word of wide.match(WORD) ?? []) {
    const found = [word, ...(word.match(CAMEL) ?? [])].map((w) => w.toLowerCase());
    for (const w of found) if ([...w].length > 1 && !EMPTY_WORDS.has(w)) words.add(w);
  }
  for (const run of wide.toLowerCase().match(RUNS) ?? []) {
    const least = /\p{Script=Katakana}/u.test(run) ? Math.min(3, run.length) : /\p{Script=Hangul}/u.test(run) ? 2 : Math.min(2, run.length);
    for (let start = 0; start < run.length && start < 200; start++)
      for (let end = start + least; end <= run.length && end <= start + 24; end++) parts.add(run.slice(start, end));
  }
  return { words, parts, starts: new Set([...parts].map((part) => part.slice(0, 2))) };
}

// The places [start, end) of the terms in the text, in order and without overlap.
function findTerms(text, terms) {
  const { form, from } = fold(text);
  const spans = [];
  const add = (start, end) => spans.length < MOST_MARKS && spans.push([from[start], from[end]]);
  for (const match of form.matchAll(WORD)) {
    if (terms.words.has(match[0])) { add(match.index, match.index + match[0].length); continue; }
    const original = text.slice(from[match.index], from[match.index + match[0].length]).normalize("NFKC");
    if (original.length !== match[0].length) continue;
    for (const part of original.matchAll(CAMEL))
      if (terms.words.has(part[0].toLowerCase())) add(match.index + part.index, match.index + part.index + part[0].length);
  }
  if (terms.parts.size) for (const match of form.matchAll(RUNS)) {
    const run = match[0];
    for (let start = 0; start < run.length; ) {
      if (!terms.starts.has(run.slice(start, start + 2)) && !terms.starts.has(run[start])) { start++; continue; }
      let end = Math.min(run.length, start + 24);
      while (end > start && !terms.parts.has(run.slice(start, end))) end--;
      if (end > start) { add(match.index + start, match.index + end); start = end; } else start++;
    }
  }
  return spans.sort((a, b) => a[0] - b[0]);
}
