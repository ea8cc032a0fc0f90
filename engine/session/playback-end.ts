import { pendingText } from "../speech/turn-detector.js";
import { watchCaller } from "./caller-silence.js";
import type { SessionEffect } from "./effects.js";
import { isRevocable, SPEECH_FAILED } from "./ending.js";
import { beginReply, FAILED_TURNS_MAX } from "./replying.js";
import { settleTurn } from "./settlement.js";
import { beginScripted } from "./speaking.js";
import type { SessionState } from "./state.js";
import { endAfterWords, lostEnding } from "./transferring.js";
import { answersSent, type Turn } from "./turn.js";

/** A voice becomes words within this time, or it was none. */
const FAREWELL_GRACE_MS = 1_000;

/** The last sentence was heard. Words that came meanwhile and did not interrupt are answered now. */
export function onPlaybackEnd(
  state: SessionState,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const turn = state.turn;
  if (turn === undefined) return state;
  const graceMs = farewellGraceMs(state, turn, atMs);
  if (graceMs > 0) {
    out.push({ type: "startTimer", timer: "playback", delayMs: graceMs });
    return state;
  }
  // A timer may fire a fraction early; what it was set for has been heard all the same.
  const endedAtMs = Math.max(atMs, turn.ledger.endsAtMs);
  const settled = settleTurn(state, turn, turn.faulty ? "failed" : "played", endedAtMs, out);
  if (turn.sentCount > 0) out.push({ type: "send", message: { type: "audioEnd" } });
  if (turn.ending !== undefined) return endAfterWords(settled, turn.id, turn.ending, atMs, out);
  const counted = turn.faulty ? countFailure(settled, turn, out) : withoutFailures(settled, turn);
  if (turn.hopeless || counted.failedTurns >= FAILED_TURNS_MAX) {
    return endForWantOfVoice(counted, turn, atMs, out);
  }
  const isOwed = turn.faulty && turn.kind === "reply" && lacksEnd(turn);
  if (isOwed && counted.unanswered === "" && isReady(counted, counted.settings.apology)) {
    return beginScripted(counted, "apology", [counted.settings.apology], atMs, out);
  }
  // Until now the caller was listening, not waiting.
  if (counted.unanswered !== "") {
    return beginReply({ ...counted, callerEndedAtMs: atMs }, atMs, out);
  }
  watchCaller(counted, out);
  return counted;
}

/** The apology was made ready while the voice spoke. */
function endForWantOfVoice(
  state: SessionState,
  turn: Turn,
  atMs: number,
  out: SessionEffect[],
): SessionState {
  const { apology } = state.settings;
  const ending = lostEnding(state, SPEECH_FAILED);
  if (!isReady(state, apology)) return endAfterWords(state, turn.id, ending, atMs, out);
  return beginScripted(state, "apology", [apology], atMs, out, ending);
}

/** The caller has heard nothing of the reply, or was told last that more of it comes, or waits for what tools do. */
function lacksEnd(turn: Turn): boolean {
  if (turn.toolsWaiting.length > 0) return true;
  return answersSent(turn) === 0 || turn.ledger.sent.at(-1)?.isWaitingWord === true;
}

function isReady({ readyPhrases }: SessionState, phrase: string): boolean {
  return readyPhrases.some(({ text }) => text === phrase);
}

/** A call is not closed under a caller who has begun to say something: so much longer its end waits for the words. */
function farewellGraceMs(state: SessionState, turn: Turn, atMs: number): number {
  if (turn.ending === undefined || !isRevocable(turn.ending)) return 0;
  const isVoiced = state.voicedAtMs > atMs - FAREWELL_GRACE_MS;
  if (!isVoiced && pendingText(state.hearing) === "") return 0;
  return turn.ledger.endsAtMs + FAREWELL_GRACE_MS - atMs;
}

function countFailure(state: SessionState, turn: Turn, out: SessionEffect[]): SessionState {
  const message =
    answersSent(turn) === 0 ? "the reply could not be spoken" : "the reply was cut short";
  out.push({ type: "send", message: { type: "error", message } });
  return { ...state, failedTurns: state.failedTurns + 1 };
}

function withoutFailures(state: SessionState, turn: Turn): SessionState {
  return turn.kind === "reply" ? { ...state, failedTurns: 0 } : state;
}
