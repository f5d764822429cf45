// What the decision panel and the server tell each other, as types.

/** @typedef {"graded" | "unrateable" | "withdrawn"} DecisionOutcome */

/** What a lead chose: a grade, or that there is none. @typedef {number | "unrateable" | "withdrawn"} Decided */

/** An annotator's or a lead's grade. @typedef {{ outcome: string, grade: number | null }} Graded */

/**
 * What one annotator, named by a letter, says of a pair.
 * @typedef {object} AnonymousJudgment
 * @property {string} letter
 * @property {string} outcome
 * @property {number | null} grade
 * @property {string | null} [note]
 * @property {number} guideline_version
 * @property {boolean} [quality] whether it is of a quality control
 * @property {boolean} [simulated]
 * @property {(Graded & { revised: boolean, note?: string | null }) | null} [turn] what the annotator says now, in a discussion
 */

/**
 * A decision that was stored, or proposed.
 * @typedef {object} Decision
 * @property {string} outcome
 * @property {number | null} grade
 * @property {string | null} [rationale]
 * @property {string | null} [cause]
 * @property {boolean} [in_guideline]
 * @property {string} by
 * @property {boolean} yours
 * @property {string} [reason]
 */

/** @typedef {Decision & { revision: number, decided_at: string | null }} StoredDecision */

/**
 * Another document of the same query.
 * @typedef {object} Neighbour
 * @property {string} doc_id
 * @property {string | null} title
 * @property {number | null} grade
 * @property {string} status
 * @property {number | null} near the share of its text that is the same, if it is nearly the same
 */

/**
 * @typedef {object} Question
 * @property {number} number
 * @property {string} text
 * @property {string | null} [letter]
 * @property {string | null} [answer]
 */

/**
 * A pair that waits for a lead, or that a lead looks at again.
 * @typedef {object} DisagreementState
 * @property {string} seen names the state of the pair, which a decision carries
 * @property {string} status
 * @property {string[]} waiting why it waits
 * @property {number | null} distance between the grades
 * @property {boolean} taste
 * @property {number | null} lacking judgments
 * @property {string | null} since
 * @property {string | null} held_by another lead before whom it is open
 * @property {string | null} held_by_name
 * @property {string | null} assigned_to
 * @property {string | null} assigned_to_name
 * @property {string | null} barred why this lead may not decide it
 * @property {number | null} [contested_grade]
 * @property {{ ndcg: number | null, recall: number | null, mrr: number | null, flips: number | null } | null} impact
 * @property {boolean} [text_changed]
 * @property {boolean} [needs_second]
 * @property {number} guideline_version
 * @property {AnonymousJudgment[]} judgments
 * @property {StoredDecision[]} decisions
 * @property {Decision | null} [proposal]
 * @property {Decision[] | null} [proposals]
 * @property {{ state: string, asked_at: string, waiting?: string[] } | null} [discussion]
 * @property {{ letter: string, text: string, objected_at: string }[]} [objections]
 * @property {Question[]} [questions]
 * @property {Neighbour[]} neighbours
 * @property {boolean} [stale] kept by the panel: a decision on it is on its way
 */

/** @typedef {import("../../kit/panel/messages.js").ShownPair & DisagreementState} Disagreement */

/**
 * What of a disagreement is compared when a decision on it was refused.
 * @typedef {{ revision: number, judgments: string[] }} SeenState
 */

/**
 * What is chosen and typed for a pair.
 * @typedef {object} DecisionFields
 * @property {Decided | null} decided
 * @property {string} rationale
 * @property {string | null} cause
 * @property {boolean} in_guideline
 */

/**
 * A decision as it is kept in this browser until the server has acknowledged it.
 * @typedef {object} DecisionEntryFields
 * @property {string} id
 * @property {string} dataset
 * @property {string} lead
 * @property {string} tab
 * @property {string} pair
 * @property {string} seen
 * @property {number} seconds of active time
 * @property {Record<string, string>} filter
 * @property {SeenState} shown
 * @property {number} [pressed_at]
 */

/** @typedef {DecisionFields & DecisionEntryFields} DecisionEntry */

/** @typedef {{ cases: Disagreement[], left: number, proposed?: boolean }} DisagreementBatch */

/**
 * What the page tells the panel when it is mounted.
 * @typedef {object} DecisionPanelSettings
 * @property {string} username
 * @property {string} dataset
 * @property {string} title
 * @property {string} language
 * @property {string | null} document_language
 * @property {number} idle_seconds
 * @property {string | null} pair the one to begin with
 * @property {Record<string, string>} filter the part of the queue
 * @property {import("../../kit/panel/messages.js").Guideline} guideline
 * @property {[keys: string[], meaning: string][]} keys
 * @property {import("../../kit/panel/sentences.js").Words} words
 */

export {};
