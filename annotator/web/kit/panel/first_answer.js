// What the start page asked for before a panel was there (labeling/panel/first_pairs.js). Each answer is taken once.

const GOOD_FOR_MS = 15000;
const TABS_ANSWER_MS = 20;  // so long the other tabs have to say what they show

/**
 * @typedef {object} FirstAsked
 * @property {string} dataset
 * @property {string} annotator
 * @property {string} tab
 * @property {number} askedAt
 * @property {Promise<Response> | null} response
 * @property {{ address: string, response: Promise<Response> } | null} rendering
 */

/** @returns {FirstAsked | null} */
function findAsked() {
  /** @type {FirstAsked | undefined} */
  const asked = /** @type {any} */ (window).annotatorFirst;
  return asked && Date.now() - asked.askedAt < GOOD_FOR_MS ? asked : null;
}

/**
 * Return the answer to a panel's first request, if the start page has made the same: for this person, dataset and tab.
 * @param {{ dataset: string, annotator: string, tab: string, events: unknown[], have: unknown[], want: number, whole?: boolean }} request
 * @returns {Promise<Response> | null}
 */
export function takeFirstPairs({ dataset, annotator, tab, events, have, want, whole }) {
  const asked = findAsked(), response = asked?.response;
  if (!asked || !response) return null;
  asked.response = null;
  const isSame = asked.dataset === dataset && asked.annotator === annotator && asked.tab === tab;
  if (!isSame || events.length || have.length || !want || whole) return null;
  const pause = new Promise((resolve) => { setTimeout(resolve, TABS_ANSWER_MS); });
  return Promise.all([response, pause]).then(([answer]) => answer);
}

/**
 * Return the answer to the request for a rendering at this address, if the start page has made it.
 * @param {string} address
 * @returns {Promise<Response> | null}
 */
export function takeFirstRendering(address) {
  const asked = findAsked(), rendering = asked?.rendering;
  if (!asked || rendering?.address !== address) return null;
  asked.rendering = null;
  return rendering.response;
}
