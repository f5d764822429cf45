// Asks the routes of this server, and says what went wrong.

const TIMEOUT_MS = 20000;
const KEEPALIVE_CHARACTERS = 60000;  // browsers finish requests of up to 64 KB for a page that is gone

/** A request that failed. `status` is 0 when nobody answered, `code` is the server's word for the reason, if it gave one. */
export class RequestError extends Error {
  /**
   * @param {string} message
   * @param {number} status
   * @param {string | null} code
   */
  constructor(message, status, code) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/**
 * Return a failure of any kind as a RequestError.
 * @param {unknown} error
 */
export function asRequestError(error) {
  return error instanceof RequestError ? error : new RequestError(String(error), 0, null);
}

/**
 * Ask a route of this server. Resolves to the JSON that it answers; throws a RequestError if it refuses.
 * @param {string} route
 * @param {Record<string, string | number | boolean>} parameters
 */
export async function askServer(route, parameters) {
  const query = new URLSearchParams(Object.entries(parameters).map(([name, value]) => [name, String(value)]));
  const answer = await fetch(`${route}?${query}`, { credentials: "same-origin", signal: AbortSignal.timeout(TIMEOUT_MS) });
  if (answer.ok) return answer.json();
  const refusal = await answer.json().catch(() => ({}));
  throw new RequestError(refusal.error ?? String(answer.status), answer.status, refusal.code ?? null);
}

/**
 * Send JSON to a route of this server.
 * @param {string} route
 * @param {object} body
 */
export function sendJson(route, body) {
  return fetch(route, { ...describePost(JSON.stringify(body)), signal: AbortSignal.timeout(TIMEOUT_MS) });
}

/**
 * Send JSON from a page that goes away: the browser finishes the request by itself, and nobody hears of the answer.
 * @param {string} route
 * @param {object} body
 */
export function sendJsonWhileLeaving(route, body) {
  const text = JSON.stringify(body);
  fetch(route, { ...describePost(text), keepalive: text.length < KEEPALIVE_CHARACTERS }).catch(() => {});
}

/**
 * Send JSON. Resolves to the status (0: nobody answered) and what was answered ({} if that is no JSON).
 * @param {string} route
 * @param {object} body
 * @returns {Promise<{ status: number, answer: any }>}
 */
export async function postJson(route, body) {
  try {
    const response = await sendJson(route, body);
    return { status: response.status, answer: await response.json().catch(() => ({})) };
  } catch {
    return { status: 0, answer: {} };
  }
}

/**
 * @param {string} body
 * @returns {RequestInit}
 */
function describePost(body) {
  return { method: "POST", credentials: "same-origin", headers: { "Content-Type": "application/json" }, body };
}
