// What is asked of one disagreement: whether it is open, and what of it is compared with what a lead saw.

/** @typedef {import("./messages.js").AnonymousJudgment} AnonymousJudgment */
/** @typedef {import("./messages.js").Decision} Decision */
/** @typedef {import("./messages.js").DecisionEntry} DecisionEntry */
/** @typedef {import("./messages.js").Disagreement} Disagreement */
/** @typedef {import("./messages.js").SeenState} SeenState */

/** @param {Disagreement} disagreement */
export function isOpen(disagreement) { return disagreement.waiting.length > 0; }

/**
 * Return whether there is a decision, or an own proposal, that can be taken back.
 * @param {Disagreement} disagreement
 */
export function isWithdrawable({ decisions, proposal }) {
  const last = decisions.at(-1);
  return (last !== undefined && last.outcome !== "withdrawn") || proposal?.yours === true;
}

/**
 * Return what of a disagreement is compared when a decision on it was refused.
 * @param {Disagreement} disagreement
 * @returns {SeenState}
 */
export function summarize({ decisions, judgments }) {
  return { revision: decisions.at(-1)?.revision ?? 0, judgments: judgments.map(describeJudgment) };
}

/** @param {AnonymousJudgment} judgment */
export function describeJudgment({ outcome, grade, note, turn }) { return JSON.stringify([outcome, grade, note ?? null, turn ?? null]); }

/**
 * Return whether a decision is stored although it was refused: the answer to the first attempt was lost.
 * @param {DecisionEntry} entry
 * @param {Disagreement} disagreement
 */
export function isStored(entry, { decisions, proposal }) {
  const revisionBefore = Number(entry.seen.split("-")[0]);
  /** @param {Decision | null | undefined} decision */
  const isSame = (decision) => decision?.yours === true && (decision.outcome === "graded" ? decision.grade : decision.outcome) === entry.decided
    && decision.rationale === entry.rationale.trim() && (decision.cause ?? null) === entry.cause;
  return decisions.some((decision) => decision.revision > revisionBefore && isSame(decision)) || isSame(proposal);
}
