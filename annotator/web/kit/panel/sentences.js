// Fills sentences with values, and chooses the Korean particles that fit them.

/**
 * A panel's words in the reader's language, by the names that its modules ask for.
 * @typedef {Record<string, string>} Words
 */

/**
 * Return the sentence with its `{values}` filled in, and with the Korean particle that fits the sound before it.
 * @param {string} sentence
 * @param {Record<string, string | number | null | undefined>} values
 */
export function fill(sentence, values) {
  return chooseParticles(
    sentence.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole)),
  );
}

/** After a consonant, after a vowel. @type {Record<string, [string, string]>} */
const PARTICLE_FORMS = {
  "이(가)": ["이", "가"], "은(는)": ["은", "는"], "을(를)": ["을", "를"], "와(과)": ["과", "와"], "(으)로": ["으로", "로"],
};

/**
 * Return the text with "3을(를)" as "3을". The same rule as in korean_particles.py, which explains it.
 * @param {string} text
 */
function chooseParticles(text) {
  return text.replace(/이\(가\)|은\(는\)|을\(를\)|와\(과\)|\(으\)로/g, (form, at) => {
    const final = findFinalConsonant(text.slice(0, at));
    if (final === null) return form;
    const asAfterVowel = final === 0 || (final === 8 && form === "(으)로");
    return PARTICLE_FORMS[form][asAfterVowel ? 1 : 0];
  });
}

/**
 * Return the number of the final consonant (0: none) that the text ends on when spoken in Korean; null if that is open.
 * @param {string} text
 */
function findFinalConsonant(text) {
  const spoken = text.replace(/["'’”」』)\]}>»… ]+$/, "");
  const last = spoken.slice(-1).toLowerCase();
  if (/[%％]/.test(last)) return 0;
  if (/[0-9]/.test(last)) {
    const zeros = /(?:^|[^0-9.,])[1-9][0-9]*?(0+)$/.exec(spoken.replaceAll(",", ""));
    return zeros ? [17, 1, 4][zeros[1].length - 1] ?? 4 : [21, 8, 0, 16, 0, 0, 1, 8, 8, 0][Number(last)];
  }
  const word = /[A-Za-z]+$/.exec(spoken);
  if (word) return findFinalOfLatinWord(word[0], last);
  return /[가-힣]/.test(last) ? (last.charCodeAt(0) - 0xac00) % 28 : null;
}

/**
 * @param {string} word
 * @param {string} last
 */
function findFinalOfLatinWord(word, last) {
  /** @type {Record<string, number>} */
  const consonants = { l: 8, m: 16, n: 4 };
  const isSpelledOut = /^([A-Z]+|[^aeiouyAEIOUY]+|.)$/.test(word);
  if (isSpelledOut) return last === "r" ? 8 : consonants[last] ?? 0;
  if (/ng$/i.test(word)) return 21;
  return /[kpt]/.test(last) ? null : consonants[last] ?? 0;
}
