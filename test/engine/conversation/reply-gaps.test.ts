import assert from "node:assert/strict";
import { test } from "node:test";
import { EMPTY_LEDGER } from "../../../engine/conversation/playback-ledger.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const MS_PER_CHAR = 65;
/** A typical LLM's speed: sixty tokens a second. */
const TOKEN_CHARS = 4;
const TOKEN_INTERVAL_MS = 17;
const FIRST_BYTE_MS = 200;
const GAP_MAX_MS = 400;
/** TTS that streams gives its audio in pieces of that length. */
const PIECE_MS = 100;

/**
 * A voice that returns a sentence this many times faster than real time, reported when it is whole, as a browser
 * gets it.
 */
class SlowVoice extends RecordedCall {
  readonly holes: number[] = [];
  readonly #rate: number;
  readonly #isStreamed: boolean;
  readonly #msPerChar: number;
  said = "";
  #ledger = EMPTY_LEDGER;
  #seen = 0;
  #endsAtMs: number | undefined;

  constructor(rate: number, { isStreamed = false, msPerChar = MS_PER_CHAR } = {}) {
    super({ ...PLAIN_SETTINGS, isStreamed });
    this.#rate = rate;
    this.#isStreamed = isStreamed;
    this.#msPerChar = msPerChar;
  }

  /** The silences between the sounds of the turn, also those in the middle of a sentence, as the ledger holds them. */
  get ledgerGaps(): readonly number[] {
    const { sent } = this.#ledger;
    return sent.slice(1).map(({ startsAtMs }, index) => {
      const before = sent[index];
      return before === undefined ? 0 : startsAtMs - before.startsAtMs - before.durationMs;
    });
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
    for (let waitedMs = 0; waitedMs < 300_000; waitedMs += 10) {
      this.clock.advance(10);
      this.#work();
    }
  }

  /** Looks at what was done since, and begins what it asks for. */
  #work(): void {
    this.#ledger = this.turn?.ledger ?? this.#ledger;
    for (; this.#seen < this.effects.length; this.#seen += 1) {
      const effect = this.effects[this.#seen];
      if (effect?.type === "synthesize") this.#say(effect.turnId, effect.index, effect.text);
      if (effect?.type === "play") this.#hear(effect.index);
    }
  }

  #say(turnId: number, index: number, text: string): void {
    this.said += `[${text}]`;
    const durationMs = text.length * this.#msPerChar;
    if (this.#isStreamed) {
      const firstByteAtMs = this.clock.monotonicMs() + FIRST_BYTE_MS;
      this.#grow(turnId, index, Math.min(PIECE_MS, durationMs), durationMs, firstByteAtMs);
      return;
    }
    this.clock.after(FIRST_BYTE_MS + durationMs / this.#rate, () => {
      const firstByteAtMs = this.clock.monotonicMs();
      this.send({ type: "sentenceWhole", turnId, index, durationMs, firstByteAtMs });
    });
  }

  #grow(turnId: number, index: number, ms: number, durationMs: number, firstByteAtMs: number) {
    const isFirst = ms <= PIECE_MS;
    this.clock.after((isFirst ? FIRST_BYTE_MS : 0) + PIECE_MS / this.#rate, () => {
      const type = ms < durationMs ? "sentenceGrew" : "sentenceWhole";
      this.send({ type, turnId, index, durationMs: ms, firstByteAtMs });
      if (ms >= durationMs) return;
      this.#grow(turnId, index, Math.min(ms + PIECE_MS, durationMs), durationMs, firstByteAtMs);
    });
  }

  #hear(index: number): void {
    const sent = this.turn?.ledger.sent[index];
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
      Math.max(...call.holes) <= GAP_MAX_MS,
      `holes ${call.holes.map(Math.round).join()} between ${call.said}`,
    );
  });
}

const WORDS =
  "the room that you saw has a large window over the harbour with two beds for four people".split(
    " ",
  );
/** This many letters, of words in a random order without punctuation. */
const wordsOf = (letters: number, words: readonly string[]): string => {
  let text = "";
  for (let at = 0; text.length < letters; at = at * 7 + 3) text += `${words[at % words.length]} `;
  return text.slice(0, letters).trim();
};

/** Replies of 1,500 letters, or what takes as long to say, without a mark. */
const UNMARKED: Readonly<Record<string, { text: string; msPerChar?: number }>> = {
  English: { text: wordsOf(1_500, WORDS) },
  "English without a joint": { text: wordsOf(1_500, ["table", "green", "letters", "go", "a"]) },
  German: { text: wordsOf(1_500, ["Zimmer", "Frühstück", "Hafen", "heute", "morgen", "eine"]) },
  Japanese: {
    text: "本日ご予約のお部屋は港が見える広い部屋で朝食が付いております".repeat(17),
    msPerChar: 150,
  },
  Chinese: {
    text: "您预订的房间可以看到港口而且早餐已经包括在价格里面".repeat(20),
    msPerChar: 190,
  },
  Thai: { text: "ห้องพักของเรามีวิวทะเลสาบที่สวยงามมากราคาคืนละสองพันบาท".repeat(27) },
  Korean: {
    text: "예약하신 방은 항구가 보이는 넓은 방이고 아침 식사가 포함되어 있습니다 ".repeat(13),
    msPerChar: 150,
  },
  "one endless word": { text: "donaudampfschifffahrtsgesellschaft".repeat(44) },
  digits: { text: "0123456789".repeat(150) },
};
/** What a caller takes for a breath. */
const UNMARKED_GAP_MAX_MS = 300;

for (const rate of [1, 1.5, 2, 3]) {
  for (const isStreamed of [false, true]) {
    const how = isStreamed ? "streamed" : "in whole pieces";
    test(`a reply of 1,500 letters without a mark has no gap at ${rate} times real time, ${how}`, () => {
      for (const [name, { text, msPerChar }] of Object.entries(UNMARKED)) {
        const call = new SlowVoice(rate, { isStreamed, ...(msPerChar ? { msPerChar } : {}) });
        call.answer(text);
        assert.deepEqual(call.crashes, []);
        const said = call.said.replace(/[[\]\s]/g, "");
        assert.equal(said, text.replace(/\s/g, ""), `${name}: nothing is lost, nothing twice`);
        assert.ok(call.ledgerGaps.length > 3, name);
        const worst = Math.max(...call.ledgerGaps);
        assert.ok(
          worst <= UNMARKED_GAP_MAX_MS,
          `${name}: ${call.ledgerGaps.map(Math.round).join()} between ${call.said}`,
        );
      }
    });
  }
}

/** Behind a word the next piece must be written and begun: more than a breath where the model or TTS is slower. */
const BEHIND_A_WORD_MAX_MS = 500;

test("after a short first sentence a streamed reply without punctuation continues soon", () => {
  for (const [name, { text, msPerChar }] of Object.entries(UNMARKED)) {
    const call = new SlowVoice(2, { isStreamed: true, ...(msPerChar ? { msPerChar } : {}) });
    call.answer(`Of course. ${text}`);
    const worst = Math.max(...call.ledgerGaps);
    assert.ok(worst <= BEHIND_A_WORD_MAX_MS, `${name}: ${call.ledgerGaps.map(Math.round).join()}`);
  }
});
