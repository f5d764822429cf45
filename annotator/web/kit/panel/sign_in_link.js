// The way back in for somebody whose session has ended, to the page that they are on.

import { make } from "./elements.js";

/** @param {import("./sentences.js").Words} words */
export function makeSignInLink(words) {
  const link = make("a", "", words.signin);
  link.href = `/login?next=${encodeURIComponent(location.pathname + location.search)}`;
  return link;
}
