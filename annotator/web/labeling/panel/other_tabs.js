// The tabs of one annotator in one browser tell each other what they show, so that no two show the same pair.

import { findTabId } from "../../kit/panel/ids.js";

/** @typedef {{ tab: string, pair?: string, hello?: boolean, taken?: boolean }} TabMessage */

export class OtherTabs {
  /**
   * @param {{ channel: string, findShownPair: () => string, dropPair: (pair: string) => void }} settings
   *   `findShownPair` returns the pair on this tab's screen, or ""; `dropPair` is called for a pair that another tab shows.
   */
  constructor({ channel, findShownPair, dropPair }) {
    this.id = findTabId();
    this.findShownPair = findShownPair;
    this.dropPair = dropPair;
    /** @type {Map<string, string>} the pair that each other tab shows */
    this.shownPairs = new Map();
    this.channel = new BroadcastChannel(channel);
    this.channel.onmessage = ({ data }) => this.hear(data);
  }

  /** Ask all others what they show. */
  ask() {
    this.shownPairs.clear();
    this.send({ tab: this.id, hello: true });
  }

  /**
   * Tell the others what this tab shows.
   * @param {string} pair
   */
  tell(pair) { this.send({ tab: this.id, pair }); }

  close() { this.channel.close(); }

  /** @param {string} pair */
  isShown(pair) { return [...this.shownPairs.values()].includes(pair); }

  /** @param {TabMessage} message */
  send(message) { this.channel.postMessage(message); }

  /** @param {TabMessage} message */
  hear({ tab, pair = "", hello, taken }) {
    if (tab === this.id) {  // a duplicated tab has taken its id along: the newer one gets another
      if (hello) this.send({ tab, taken: true });
      else if (taken) this.id = findTabId(true);
      return;
    }
    if (hello) return this.tell(this.findShownPair());
    this.shownPairs.set(tab, pair);
    this.dropPair(pair);
  }
}
