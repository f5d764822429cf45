// What to tell a person of a question or a proposal that was not stored.

/**
 * Return what to tell a person of a form that was not stored.
 * @param {import("../../kit/panel/sentences.js").Words} words
 * @param {number} status
 * @param {Record<number, string>} sentences of statuses with a meaning of their own
 */
export function describeFailure(words, status, sentences) {
  if (sentences[status]) return sentences[status];
  if (status === 401) return `${words.why_signedout} ${words.send_kept}`;
  return status >= 400 && status < 500 ? words.send_refused : `${words.why_unreachable_once} ${words.send_kept}`;
}
