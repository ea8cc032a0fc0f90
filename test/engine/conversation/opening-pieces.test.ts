import assert from "node:assert/strict";
import { test } from "node:test";
import {
  EMPTY_SPLITTER,
  EMPTY_STREAMED_SPLITTER,
  splitReplyToken,
  splitToken,
} from "../../../engine/conversation/sentences.js";
import { tokensOf } from "../../../engine/sandbox/language-model/reply-stream.js";
import { pieces, split } from "./streamed-text.js";

/** Whatever the stream is cut into, the text comes in these pieces. */
function comesAs(expected: readonly string[], joint = " ", begin = EMPTY_SPLITTER): void {
  const text = expected.join(joint);
  for (const size of [1, 2, 7, text.length]) {
    assert.deepEqual(split(pieces(text, size), begin), expected, text);
  }
}

/** A sentence of this many characters, without a clause. */
const sentence = (characters: number) => `${"s".repeat(characters - 1)}.`;
/** The same length without an end. */
const word = (characters: number, letter = "w") => letter.repeat(characters);
const clause = `${"c".repeat(24)},`;

test("a first sentence of eighty is whole, and one of more ends with its last clause", () => {
  comesAs([`${clause} ${word(54)}.`]);
  comesAs([clause, `${word(55)}.`]);
});

test("the next piece has 1.3 times as much as came before, and thirty at least", () => {
  comesAs(["Yes.", `${clause} ${word(4)}.`]);
  comesAs(["Yes.", clause, `${word(5)}.`]);
  comesAs([sentence(40), `${clause} ${word(26)}.`]);
  comesAs([sentence(40), clause, `${word(27)}.`]);
});

test("a wide character is as much as three letters", () => {
  const twenty = `${"字".repeat(19)}。`;
  comesAs([twenty, `${"好".repeat(10)}，${"的".repeat(15)}。`], "");
  comesAs([twenty, `${"好".repeat(10)}，`, `${"的".repeat(16)}。`], "");
});

test("a wide clause that is longer than that is released with its mark, not with the next one", () => {
  const clause = `${"好".repeat(30)}，`;
  const { sentences } = splitToken(EMPTY_SPLITTER, `${clause}的`);
  assert.deepEqual(sentences, [clause]);
});

test("a clause of twenty is cut off from no piece, one of twenty-one is", () => {
  comesAs([`${word(20)},`, `${word(60)}.`]);
  comesAs([`${word(19)}, ${word(61)}.`]);
});

test("the text after a cut is read immediately", () => {
  comesAs([clause, `${word(55)}.`, sentence(20), sentence(30)]);
  comesAs(["Yes.", word(75), `${word(20)}.`, sentence(20)]);
});

test("a sentence that was too short to go alone counts with the next one, with its marks", () => {
  comesAs([sentence(40), `It is so o. ${clause} ${word(14)}.`]);
  comesAs([sentence(40), `It is so o. ${clause}`, `${word(15)}.`]);
  comesAs([sentence(40), `It is so!!! ${clause} ${word(14)}.`]);
  comesAs([sentence(40), `It is so!!! ${clause}`, `${word(15)}.`]);
});

test("spaces before a piece are no part of it", () => {
  assert.equal(splitToken(EMPTY_SPLITTER, "   ").state.pending, "");
  assert.deepEqual(splitToken(splitToken(EMPTY_SPLITTER, "  ").state, " Hi. I am").sentences, [
    "Hi.",
  ]);
});

test("a clause that is longer ends where it ends", () => {
  const dashed = `${word(90)}—`;
  assert.deepEqual(splitToken(EMPTY_SPLITTER, `${dashed}he`).sentences, [dashed]);
  assert.deepEqual(splitToken(EMPTY_SPLITTER, `${dashed}h`).sentences, []);
  const long = `${word(90)},`;
  comesAs([long, `${word(20)}.`]);
  const { sentences } = splitToken(EMPTY_SPLITTER, `${long} `);
  assert.deepEqual(sentences, [long]);
});

test("without a clause the next piece ends before a joint from 1.2 times that on", () => {
  comesAs(["Yes.", `${word(24)} for ${word(6)} end.`]);
  comesAs(["Yes.", word(24), `for ${word(7)} end.`]);
  comesAs(["Yes.", `${word(32)} forth it is.`]);
});

test("without a joint it ends with a word from 2.5 times that on", () => {
  comesAs(["Yes.", `${word(74)} end.`]);
  comesAs(["Yes.", word(75), "end."]);
  comesAs(["Yes.", `${word(24)} for ${word(47)}`, "end."]);
});

test("the first piece ends before a joint from 120 on, and with a word from 160 on", () => {
  comesAs([`${word(24)} for ${word(90)}.`]);
  comesAs([word(24), `for ${word(92)}`, `for ${word(90)} end.`]);
  comesAs([`${word(79)} ${word(80)}`, "end."]);
  comesAs([`${word(79)} ${word(79)} end.`]);
});

test("earlier text may be enough for whole sentences of a hundred and fifty", () => {
  comesAs([sentence(70), sentence(75), sentence(90), `${clause} ${word(123)}.`]);
  comesAs([sentence(70), sentence(75), sentence(90), clause, `${word(125)}.`]);
});

test("a single word is cut inside from 1.2 times as much as any other piece on", () => {
  const before = [sentence(75), sentence(75), sentence(90)];
  comesAs([...before, `${word(233)}.`]);
  const [piece, rest] = split([`${before.join(" ")} ${word(300)}.`]).slice(before.length);
  assert.deepEqual([piece?.length, rest?.length], [234, 67]);
});

test("Chinese and Japanese without a mark are cut between words, Korean at its spaces", () => {
  const words = "本日ご予約のお部屋は港が見える広い部屋で朝食が付いております".repeat(8);
  const wordSet = new Set(
    Array.from(
      new Intl.Segmenter("ja", { granularity: "word" }).segment(words),
      (at) => at.segment,
    ),
  );
  for (const piece of split(pieces(words, 5)).slice(0, -1)) {
    const last = Array.from(
      new Intl.Segmenter("ja", { granularity: "word" }).segment(piece),
      (at) => at.segment,
    ).at(-1);
    assert.ok(last !== undefined && wordSet.has(last), piece);
  }
  const korean = "예약하신 방은 항구가 보이는 넓은 방이고 아침 식사가 포함되어 있습니다 "
    .repeat(8)
    .trim();
  assert.equal(split(pieces(korean, 5)).join(" "), korean);
});

test("where a piece is played while it comes, eighty are enough ahead, and sentences stay whole", () => {
  const streamed = (expected: readonly string[]) => comesAs(expected, " ", EMPTY_STREAMED_SPLITTER);
  streamed([clause, `${word(55)}.`]);
  streamed([sentence(79), clause, `${word(55)}.`]);
  streamed([sentence(80), `${clause} ${word(90)}.`]);
  streamed(["Yes.", `${word(24)} for ${word(90)}`, `for ${word(90)} end.`]);
  streamed([sentence(80), `${word(24)} for ${word(90)} for ${word(90)} end.`]);
});

test("where it is played while it comes, a sentence of three hundred is whole, and of more the last word goes with the next", () => {
  const before = [sentence(75), sentence(75), sentence(90)];
  comesAs([...before, `${word(250)} ${word(48)}.`], " ", EMPTY_STREAMED_SPLITTER);
  comesAs([...before, word(250), `${word(50)}.`], " ", EMPTY_STREAMED_SPLITTER);
});

test("a script that marks no sentences is cut at its last pause from a hundred on, without one at a word from 120 on", () => {
  const before = [sentence(75), sentence(75), sentence(90)];
  const thai = "สวัสดี".repeat(16);
  comesAs([...before, `${thai} กกก`]);
  comesAs([...before, thai, "กกกก"]);
  comesAs([...before, `${thai}กกกก`, "and then in English."]);
  comesAs([...before, `${thai}กกก abc abc`]);
  comesAs([...before, "สวัสดี".repeat(20)]);
  const cut = split([`${before.join(" ")} ${"สวัสดี".repeat(21)}`]).slice(before.length);
  assert.deepEqual(cut, ["สวัสดี".repeat(19), "สวัสดี".repeat(2)]);
});

test("a character of two halves and more is cut as if it had come whole", () => {
  const thumb = "👍🏽";
  for (let before = 0; before < 12; before += 1) {
    const text = `${word(before)}${thumb.repeat(60)}`;
    assert.deepEqual(split(pieces(text, 1)), split([text]), `${before} before`);
  }
});

/** What the sandbox's models take from one token to the next on a good day, as `lifelikeDelays` has it. */
const TOKEN_INTERVAL_MS = 12;
/** The least that a vendor buffers that is sent text as it is generated: ElevenLabs' smallest `chunk_length_schedule`. */
const BUFFERED_CHARS_MIN = 50;
/** A clause below this is no piece for a voice. */
const CLAUSE_CHARS_MIN = 12;
const CLAUSE_END = /[,;:.!?]$/;

const REPLIES = [
  "Your table for four is booked for seven o'clock on Friday evening. Is there anything else that I can do for you?",
  "Yes, we are open on Sundays. We open at nine and close at six.",
  "I have looked at your order, and it left our warehouse this morning, so it should be with you tomorrow before noon.",
  "The doctor has time on Tuesday at ten or on Thursday at three. Which of the two would suit you better?",
  "Of course. Could you tell me your customer number, please?",
  "Unfortunately we do not deliver to that address, but you can pick up your parcel at the station, which is open until ten every day.",
  "That makes forty two euros and fifty cents. Shall I send you the invoice by mail?",
  "I am sorry to hear that. Let me see what I can do for you.",
  "The room has a view of the garden and two beds, breakfast is included, and you can cancel until the evening before.",
  "No problem at all! I have changed your appointment to Monday the third at half past eight.",
  "Our return policy lets you send everything back within thirty days as long as it is in its original packaging.",
  "Thank you for waiting. Your account is active again, and you can sign in with your new password right away.",
];

interface FirstWait {
  /** From the first token until TTS gets its first piece. */
  readonly pieceMs: number;
  /** Until the first clause has ended. */
  readonly clauseMs: number;
  /** Until there is as much as the vendor buffers. */
  readonly bufferedMs: number;
}

function firstWait(reply: string): FirstWait {
  const tokens = tokensOf(reply);
  const endMs = (tokens.length - 1) * TOKEN_INTERVAL_MS;
  let [pieceMs, clauseMs, bufferedMs] = [endMs, endMs, endMs];
  let state = EMPTY_STREAMED_SPLITTER;
  let text = "";
  for (const [index, token] of tokens.entries()) {
    const atMs = index * TOKEN_INTERVAL_MS;
    text += token;
    const isClause = CLAUSE_END.test(text) && text.length >= CLAUSE_CHARS_MIN;
    if (isClause) clauseMs = Math.min(clauseMs, atMs);
    if (text.length >= BUFFERED_CHARS_MIN) bufferedMs = Math.min(bufferedMs, atMs);
    const step = splitReplyToken(state, token);
    state = step.state;
    if (step.sentences.length > 0) pieceMs = Math.min(pieceMs, atMs);
  }
  return { pieceMs, clauseMs, bufferedMs };
}

test("TTS that gets the first piece whole starts hardly later than TTS that gets text as it is generated", () => {
  const waits = REPLIES.map(firstWait);
  const mean = (pick: (wait: FirstWait) => number) =>
    waits.reduce((sum, wait) => sum + pick(wait), 0) / waits.length;
  const beforeBufferedMs = mean(({ pieceMs, bufferedMs }) => pieceMs - bufferedMs);
  const behindClauseMs = mean(({ pieceMs, clauseMs }) => pieceMs - clauseMs);
  assert.ok(beforeBufferedMs <= 5, `${beforeBufferedMs} ms behind a vendor that buffers`);
  assert.ok(behindClauseMs <= 25, `${behindClauseMs} ms behind the first clause`);
});
