import assert from "node:assert/strict";
import { test } from "node:test";
import {
  EMPTY_STREAMED_SPLITTER,
  splitReplyToken,
} from "../../../engine/conversation/sentences.js";
import { tokensOf } from "../../../engine/sandbox/language-model/reply-stream.js";

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
  /** From the first token until the voice is given its first piece. */
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

test("a voice that is given the first piece whole begins hardly later than one that is sent text as it is generated", () => {
  const waits = REPLIES.map(firstWait);
  const mean = (pick: (wait: FirstWait) => number) =>
    waits.reduce((sum, wait) => sum + pick(wait), 0) / waits.length;
  const beforeBufferedMs = mean(({ pieceMs, bufferedMs }) => pieceMs - bufferedMs);
  const behindClauseMs = mean(({ pieceMs, clauseMs }) => pieceMs - clauseMs);
  assert.ok(beforeBufferedMs <= 5, `${beforeBufferedMs} ms behind a vendor that buffers`);
  assert.ok(behindClauseMs <= 25, `${behindClauseMs} ms behind the first clause`);
});
