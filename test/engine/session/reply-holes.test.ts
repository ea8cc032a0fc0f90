import assert from "node:assert/strict";
import { test } from "node:test";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const MS_PER_CHAR = 65;
/** What a usual model gives: sixty tokens a second. */
const TOKEN_CHARS = 4;
const TOKEN_INTERVAL_MS = 17;
const FIRST_BYTE_MS = 200;
const HOLE_MAX_MS = 400;

/** A voice that gives a sentence so many times faster than it is spoken, told of when it is whole, as a browser is sent it. */
class SlowVoice extends RecordedCall {
  readonly holes: number[] = [];
  readonly #rate: number;
  said = "";
  #seen = 0;
  #endsAtMs: number | undefined;

  constructor(rate: number) {
    super(PLAIN_SETTINGS);
    this.#rate = rate;
  }

  answer(reply: string): void {
    this.send({ type: "opened", resumed: true });
    this.send({
      type: "transcript",
      text: "go on",
      isFinal: true,
      speechFinal: true,
      lastWordEndMs: 500,
      endedAgoMs: 0,
    });
    const turnId = 1;
    for (let at = 0; at < reply.length; at += TOKEN_CHARS) {
      this.clock.advance(TOKEN_INTERVAL_MS);
      this.send({ type: "replyToken", turnId, text: reply.slice(at, at + TOKEN_CHARS) });
      this.#work();
    }
    this.send({ type: "replyDone", turnId, tokens: 10 });
    this.#work();
    for (let waitedMs = 0; waitedMs < 60_000; waitedMs += 10) {
      this.clock.advance(10);
      this.#work();
    }
  }

  /** Looks at what was done since, and begins what it asks for. */
  #work(): void {
    for (; this.#seen < this.effects.length; this.#seen += 1) {
      const effect = this.effects[this.#seen];
      if (effect?.type === "synthesize") this.#say(effect.turnId, effect.index, effect.text);
      if (effect?.type === "play") this.#hear(effect.index);
    }
  }

  #say(turnId: number, index: number, text: string): void {
    this.said += `[${text}]`;
    const durationMs = text.length * MS_PER_CHAR;
    this.clock.after(FIRST_BYTE_MS + durationMs / this.#rate, () => {
      const firstByteAtMs = this.clock.monotonicMs();
      this.send({ type: "sentenceWhole", turnId, index, durationMs, firstByteAtMs });
    });
  }

  #hear(index: number): void {
    const sent = this.actor.state.turn?.ledger.sent[index];
    if (sent === undefined) return;
    if (this.#endsAtMs !== undefined) this.holes.push(sent.startsAtMs - this.#endsAtMs);
    this.#endsAtMs = sent.startsAtMs + sent.durationMs;
  }
}

const REPLIES = [
  "Yes, of course. I can offer you a room with a view of the lake from the tenth to the fourteenth of May, which would cost one hundred and twenty euros a night, breakfast included. Shall I book it for you?",
  "Thank you for waiting. Your parcel left our warehouse in Rotterdam on Tuesday evening and is expected to arrive at the address that you gave us between two and four in the afternoon tomorrow. Is there anything else?",
  "Let me look that up. The next train to the airport that still has seats in the first class leaves from platform nine at half past three and arrives there a little after a quarter past four. The one after that is direct.",
  "Ja, sehr gerne. Ich kann Ihnen ein Zimmer mit Blick auf den See vom zehnten bis zum vierzehnten Mai anbieten, das mit Frühstück einhundertzwanzig Euro pro Nacht kostet. Soll ich es für Sie buchen?",
];

for (const [index, reply] of REPLIES.entries()) {
  test(`a voice of 1.5 times real time leaves no hole after a short first sentence, reply ${index + 1}`, () => {
    const call = new SlowVoice(1.5);
    call.answer(reply);
    assert.deepEqual(call.crashes, []);
    assert.ok(call.holes.length > 0);
    assert.ok(
      Math.max(...call.holes) <= HOLE_MAX_MS,
      `holes ${call.holes.map(Math.round).join()} between ${call.said}`,
    );
  });
}
