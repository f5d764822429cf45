// Finds a query's terms, or any words, in a text. The browser's own segmentation cuts a query into words
// (without it: bigrams); names are also looked for by their parts: camelCase, snake_case, dotted, slashed.
// Ignores case and full or half width. Words that say nothing by themselves are not looked for.

const WORD = /[\p{L}\p{N}\p{M}_]+/gu;
const CAMEL = /\p{Lu}+(?!\p{Ll})|\p{Lu}?\p{Ll}+|[\p{Lo}\p{Lm}\p{M}]+|\p{N}+/gu;
// Scripts whose words may begin and end anywhere: a term of theirs is looked for inside longer words too.
const JOINED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;
const JOINED_RUNS = /\p{Script=Han}+|\p{Script=Hiragana}+|[\p{Script=Katakana}ー]+|\p{Script=Hangul}+|[\p{Script=Thai}\p{M}]+|[\p{Script=Lao}\p{M}]+|[\p{Script=Khmer}\p{M}]+|[\p{Script=Myanmar}\p{M}]+/gu;
const EMPTY_WORDS = new Set((
  "a about all also am an and any are as at be been but by can could did do does for from had has have how i if in into is it its may me my no not of on or our should so some such than that the their them then there these they this those to use used using was we were what when where which who why will with would you your " +
  "する した して される された いる いた ある あった ない なる なった できる できます する場合 こと もの とき ため よう ところ これ それ あれ この その あの どの どれ どう どこ いつ なぜ だれ など また および または について における に対する による により として とは から まで より だけ ほど くらい では には へは とも でも です ます ました ません ください 場合 方法 何 教え 教えて 知り たい たり ながら " +
  "있는 있다 있나 있나요 있는가 있습니까 없는 없다 하는 하다 하고 하여 하면 해야 한다 합니다 하나요 하는지 되는 되다 된다 됩니다 되나요 되는지 위한 위해 위하여 대한 대해 대하여 관한 관하여 관련 따른 따라 따르면 의한 의해 의하여 경우 어떤 어떻게 무엇 무엇인가 무엇인가요 언제 어디 누가 왜 얼마 그리고 또는 그러나 및 등 것 수 때 이 그 저 " +
  "ที่ และ ของ ใน การ ความ เป็น ได้ ให้ ว่า จะ มี ไม่ กับ หรือ จาก โดย คือ อะไร อย่างไร 的 了 和 是 在 有 与 及 或 吗 呢 什么 怎么 如何 哪些"
).split(" "));
const PARTICLES = /(?:에서는|에서의|으로서|으로써|으로는|에게서|까지|부터|에서|에게|으로|이나|이란|에는|에도|처럼|보다|마다|하고|이며|하는|되는|은|는|이|가|을|를|의|에|로|와|과|도|만|란)$/u;

// A character with what belongs to it: its marks, half-width voicing marks, the parts of a Hangul syllable.
const CHARACTER = /[\u1100-\u115f][\u1160-\u11a7]?[\u11a8-\u11ff]?|[^][\p{M}\uff9e\uff9f]*/gu;
// What is not nearly all there is: characters that may become more or fewer when they are folded.
const ODD = /[^\u0000-\u007f\u00b7\u00c0-\u00ff\u0400-\u045f\u2010-\u2022\u25a0-\u25ff\u3000-\u3030\u3041-\u3096\u30a1-\u30fe\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff60]+/g;

// The text in its compared form, and for each place in it the place in the text that it came from (null: the same).
function fold(text) {
  const pieces = [];  // [place in the text, characters there, their form], where a form is longer or shorter
  let form = "", done = 0;
  for (const { 0: odd, index } of text.matchAll(ODD)) {
    let place = Math.max(done, index - 1);  // what is odd may belong to the character before it
    form += text.slice(done, place).normalize("NFKC").toLowerCase();
    for (const [character] of text.slice(place, index + odd.length).matchAll(CHARACTER)) {
      const same = character.normalize("NFKC").toLowerCase();
      if (same.length !== character.length) pieces.push([place, character.length, form.length, same.length]);
      form += same;
      place += character.length;
    }
    done = place;
  }
  form += text.slice(done).normalize("NFKC").toLowerCase();
  return { form, from: pieces.length ? placesOf(pieces, form.length) : null };
}

function placesOf(pieces, length) {
  const from = new Int32Array(length + 1);
  let at = 0, shift = 0;
  for (const [place, long, start, now] of pieces) {
    for (; at < start; at++) from[at] = at + shift;
    for (; at < start + now; at++) from[at] = place;
    shift += long - now;
  }
  for (; at <= length; at++) from[at] = at + shift;
  return from;
}

function escapeForSearch(text) { return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"); }

// What to look for: `words` stand alone (or as a part of a name), `parts` stand anywhere.
function termsOf(query) {
  const words = new Set();
  const parts = new Set();
  const wide = query.normalize("NFKC");
  for (const name of wide.match(WORD) ?? []) {
    const spelled = name.replace(JOINED, " ").split(/[\s_]+/);
    for (const piece of [name, ...spelled]) {
      if (piece.match(JOINED)) continue;
      for (const word of [piece, ...(piece.match(CAMEL) ?? [])].map((w) => w.toLowerCase()))
        if ([...word].length > 1 && !EMPTY_WORDS.has(word)) words.add(word);
    }
  }
  for (const word of wordsWithoutSpaces(wide)) for (const part of partsOf(word)) parts.add(part);
  for (const [run] of wide.matchAll(/\p{Script=Han}{2,8}/gu)) if (!EMPTY_WORDS.has(run)) parts.add(run);
  const longest = [...parts].sort((a, b) => b.length - a.length);
  const all = [...words, ...longest].map(escapeForSearch);
  return {
    words, parts,
    any: all.length ? new RegExp(all.join("|"), "u") : null,
    joined: longest.length ? new RegExp(longest.map(escapeForSearch).join("|"), "gu") : null,
  };
}

// The words of the scripts without spaces (and of Korean, whose words carry particles).
function* wordsWithoutSpaces(text) {
  if (!globalThis.Intl?.Segmenter) {
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

// A word and those of its parts that are words themselves more often than not: beginnings and ends, and in compounds
// of two-character words each of those.
function* partsOf(word) {
  if (EMPTY_WORDS.has(word)) return;
  const hangul = /^\p{Script=Hangul}+$/u.test(word);
  const stem = hangul && word.length > 2 ? word.replace(PARTICLES, "") : word;
  if (EMPTY_WORDS.has(stem)) return;
  const base = stem.length > 1 ? stem : word;
  if (base.length < 2) { if (/\p{Script=Han}/u.test(base)) yield base; return; }
  if (/^\p{Script=Hiragana}+$/u.test(base) && base.length < 3) return;
  yield base.toLowerCase();
  const least = hangul || /^\p{Script=Han}+$/u.test(base) ? 2 : /^[\p{Script=Katakana}ー]+$/u.test(base) ? 4 : 0;
  if (!least || base.length > 40) return;
  for (let end = least; end < base.length; end++) yield base.slice(0, end);
  for (let start = 1; start <= base.length - least; start++) if (!/^[ーァィゥェォッャュョ]/u.test(base.slice(start))) yield base.slice(start);
  if (least === 2) for (let at = 0; at + 2 <= base.length; at += 2) yield base.slice(at, at + 2);
}

// The places [start, end, term] of the terms in the text, in order; neighbours that touch are one.
function findTerms(text, terms) {
  if (!terms.any) return [];
  const { form, from } = fold(text);
  if (!terms.any.test(form)) return [];
  const found = [];
  if (terms.words.size) for (const match of form.matchAll(WORD)) findNames(match, text, from, terms, found);
  if (terms.joined) {
    terms.joined.lastIndex = 0;
    for (let match; (match = terms.joined.exec(form)); terms.joined.lastIndex = match.index + 1) found.push([match.index, terms.joined.lastIndex, match[0]]);
  }
  found.sort((a, b) => a[0] - b[0] || b[1] - a[1]);
  const spans = [];
  for (const [start, end, term] of found) {
    const last = spans.at(-1);
    if (last && start <= last[1]) { if (end > last[1]) { last[1] = end; last[2] += ` ${term}`; } } else spans.push([start, end, term]);
  }
  return from ? spans.map(([start, end, term]) => [from[start], from[end], term]) : spans;
}

function findNames(match, text, from, terms, found) {
  const start = match.index, end = start + match[0].length;
  if (terms.words.has(match[0])) { found.push([start, end, match[0]]); return; }
  if (!terms.any.test(match[0])) return;
  const original = text.slice(from ? from[start] : start, from ? from[end] : end).normalize("NFKC");
  if (original.length !== match[0].length) return;
  for (const part of original.matchAll(CAMEL))
    if (terms.words.has(part[0].toLowerCase())) found.push([start + part.index, start + part.index + part[0].length, part[0].toLowerCase()]);
  for (const piece of match[0].matchAll(/[^_\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー\p{Script=Hangul}]+/gu))
    if (terms.words.has(piece[0])) found.push([start + piece.index, start + piece.index + piece[0].length, piece[0]]);
}

// The places [start, end] of the very words looked for, by the same comparison.
function findWords(text, needle) {
  const wanted = fold(needle).form.trim();
  if (!wanted) return [];
  const { form, from } = fold(text);
  const spans = [];
  for (let at = form.indexOf(wanted); at >= 0; at = form.indexOf(wanted, at + wanted.length)) {
    const end = at + wanted.length;
    spans.push(from ? [from[at], from[end]] : [at, end]);
  }
  return spans;
}
