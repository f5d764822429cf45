// Going back to a pair that was answered, to look at it or to change the answer.

Object.assign(Panel.prototype, {
  remember(pair) {
    this.behind.push(pair);
    if (this.behind.length > REMEMBERED) this.view.forget(this.behind.shift().pair);
    this.trail.write([...this.trail.list().filter((key) => key !== pair.pair), pair.pair]);
  },

  async back() {
    if (this.strip.asked || this.whole) return;
    const pair = this.behind.pop();
    if (pair) return this.showAgain(pair);
    const key = this.trail.list().findLast((found) => found !== this.current?.pair && !this.queue.some((ahead) => ahead.pair === found && ahead.answer));
    if (key) await this.open(key);
  },

  showAgain(pair) {
    if (this.current) this.queue.unshift(this.current);
    this.say(this.words.wentback);
    this.show(pair);
  },

  // Brings an answered pair to the screen, with its answer; tells kindly when it can no longer be changed.
  async open(key) {
    try {
      const pair = await ask("/api/pair", { dataset: this.told.dataset, pair: key });
      if (this.current?.pair === key || this.ended) return;
      setLaterApart(pair);
      this.drop((ahead) => ahead.pair === key);
      this.showAgain(pair);
    } catch (error) {
      this.trail.write(this.trail.list().filter((found) => found !== key));
      const why = this.words[`refused_${error.code}`] ?? (error.status ? error.message : this.words.why_unreachable);
      this.saved.tell(fill(this.words.notopened, { why }));
      this.forgetAddress();
    }
  },

  // The pair that the address names has had its turn: a reload shall not bring it again.
  forgetAddress() {
    const address = new URL(location.href);
    if (!address.searchParams.has("pair")) return;
    address.searchParams.delete("pair");
    history.replaceState(history.state, "", address);
  },
});
