// What the labeling panel and the server tell each other, as types.

/** @typedef {"graded" | "unrateable" | "later"} Outcome */

/**
 * An answer as the server keeps it.
 * @typedef {object} Answer
 * @property {Outcome} outcome
 * @property {number | null} grade
 * @property {string | null} [note]
 * @property {string | null} [reason] why it cannot be rated
 */

/**
 * An answer as its key press gives it.
 * @typedef {object} NewAnswer
 * @property {Outcome} outcome
 * @property {number | null} [grade]
 * @property {string | null} [reason]
 * @property {string} [note]
 */

/**
 * A key press that judges a pair, as it is stored in this browser and sent.
 * @typedef {object} JudgmentEvent
 * @property {string} id
 * @property {string} pair
 * @property {Outcome} outcome
 * @property {number | null} grade
 * @property {string} note
 * @property {string} [reason]
 * @property {string} pressed_at
 * @property {number} seconds of active time
 * @property {string} document_sha256
 * @property {number} guideline_version
 * @property {string} tab
 * @property {string} [browser]
 * @property {number} [browser_number] its place among the presses of this browser; panels of older versions gave none
 */

/**
 * What the server tells of a pair that an annotator may judge.
 * @typedef {object} PairState
 * @property {Answer | null} answer the annotator's own
 * @property {{ version: number | null, text_changed: boolean } | null} [outdated] why the answer is asked for again
 * @property {boolean} [training]
 * @property {[at: number, of: number] | null} [position] which document of its query it is for this annotator
 * @property {number} guideline_version
 * @property {boolean} [putOff] kept by the panel: it was put off
 * @property {string | null} [laterNote] kept by the panel: what was typed when it was put off
 * @property {Answer | null} [before] kept by the panel: the answer before this one
 */

/** @typedef {import("../../kit/panel/messages.js").ShownPair & PairState} Pair */

/** @typedef {{ id: string, why: string, code: string }} Refusal */

/** The right grade of a training pair. @typedef {{ id: string, grade: number, explanation: string }} Feedback */

/** @typedef {{ done: number, total: number, right: number, required: number, passed: boolean }} Training */

/** @typedef {{ done: number, total: number, added: number, answered?: number }} Progress `added`: pairs that have come since the answer before; `answered`: all own judgments */

/**
 * @typedef {object} ExchangeRequest
 * @property {number} [version] of the exchange; none means 1
 * @property {string} dataset
 * @property {string} annotator
 * @property {string} tab
 * @property {JudgmentEvent[]} events
 * @property {string[]} have the pairs that this panel holds
 * @property {number} want how many more
 * @property {boolean} [whole] all of a query
 */

/**
 * @typedef {object} ExchangeAnswer
 * @property {string[]} acknowledged ids of events that are stored
 * @property {Refusal[]} refused
 * @property {Pair[]} pairs the next ones
 * @property {Progress} progress
 * @property {string[]} [judged] pairs that need nothing from this annotator any more
 * @property {Training | null} [training]
 * @property {Feedback[]} [feedback]
 * @property {{ pool: boolean, until: string | null } | null} [idle] why no pair came: whether the dataset has pairs, and until when others hold the open ones
 */

/**
 * What the page tells the panel when it is mounted.
 * @typedef {object} PanelSettings
 * @property {string} username
 * @property {string} dataset
 * @property {string} title
 * @property {string} name of the person
 * @property {boolean} is_lead
 * @property {string} language
 * @property {number} idle_seconds
 * @property {number} lease_minutes for how long pairs are reserved
 * @property {string | null} pair the answered pair to open with
 * @property {import("../../kit/panel/messages.js").Guideline} guideline
 * @property {[keys: string[], meaning: string][]} keys
 * @property {import("../../kit/panel/sentences.js").Words} words
 */

export {};
