// What the server tells both panels, as types: a pair's query and document, and the guideline.

/**
 * @typedef {object} Query
 * @property {string} query_id
 * @property {string} text
 * @property {string | null} [narrative]
 * @property {string | null} [language]
 * @property {string | null} [category]
 */

/**
 * @typedef {object} PairDocument
 * @property {string} doc_id
 * @property {string | null} title
 * @property {string | null} text its beginning; null if only its id is known
 * @property {number} length of the whole text, in characters
 * @property {string} media_type
 * @property {string | null} url
 * @property {string} sha256
 * @property {Record<string, string | number | null> | null} metadata
 */

/**
 * A pair as the view of its document needs it.
 * @typedef {object} ShownPair
 * @property {string} pair its key
 * @property {Query} query
 * @property {PairDocument} document
 */

/**
 * @typedef {object} GradeDefinition
 * @property {number} grade
 * @property {string} name
 * @property {string} definition
 * @property {string[]} [positive_examples]
 * @property {string[]} [negative_examples]
 */

/**
 * @typedef {object} Guideline
 * @property {number} version
 * @property {string} language of the grades as this reader sees them; "" if nobody said
 * @property {string} guideline_language of the text
 * @property {string} missing what to say if something is not in the reader's language; "" if nothing is missing
 * @property {GradeDefinition[]} grades
 * @property {string} guideline_html made by the server from Markdown: nothing active, nothing fetched
 * @property {import("./changes.js").GuidelineChange | null} [change] what it changed since the version that the panel named
 */

export {};
