import { answerCaller, interruptFor } from "./barge-in.js";
import { keypadText } from "./commit-turn.js";
import { clearDeadline, setDeadline } from "./deadlines.js";
import type { ConversationEffect } from "./effects.js";
import type { DigitEvent } from "./events.js";
import type { EndOfTurn } from "./reasons.js";
import type { ConversationState } from "./state.js";
import * as detector from "./transcript-buffer.js";
import { endOfTurn, turnEnded } from "./user-turn.js";

/** Longer than any card or account number. */
const DIGITS_MAX = 32;
/** The pause that ends a DTMF entry of unknown length: after one digit, and after several, which form a number. */
const DIGITS_PAUSE_MS = 1_200;
const NUMBER_PAUSE_MS = 2_000;
/** Two pound keys closer together than this are one: a flood of them does not become a flood of turns. */
const DIGITS_APART_MIN_MS = 500;

/**
 * A DTMF digit from the caller. Digits are collected until a pause or the pound key, and then form one turn of the
 * caller.
 */
export function onDigit(
  state: ConversationState,
  event: DigitEvent,
  out: ConversationEffect[],
): void {
  const { settings } = state;
  const { digit, atMs } = event;
  const isApart = atMs - state.user.dtmfTakenAtMs >= DIGITS_APART_MIN_MS;
  // People often press the pound key after the last digit, even if the digits were already complete.
  const isClosing = digit === "#" && state.user.digits === "" && !isApart;
  if (settings.dtmfDigits > 0 && isClosing) return;
  state.user.digits = `${state.user.digits}${digit}`.slice(0, DIGITS_MAX);
  state.user.utteranceBeganAtMs ??= atMs;
  state.user.lastDigitAtMs = atMs;
  const digitCount = state.user.digits.length;
  interruptFor(state, { type: "dtmf" }, atMs, out);
  const isWhole = settings.dtmfDigits > 0 && digitCount >= settings.dtmfDigits;
  if ((isWhole || digit === "#") && isApart) {
    takeDigits(state, isWhole ? "dtmfDigits" : "poundKey", atMs, out);
    return;
  }
  const isNumber = digitCount > 1 || detector.pendingText(state.user.hearing) !== "";
  setDeadline(state, "dtmf", atMs + (isNumber ? NUMBER_PAUSE_MS : DIGITS_PAUSE_MS));
}

/** No DTMF digit has followed for a while. */
export function onDtmfDeadline(
  state: ConversationState,
  atMs: number,
  out: ConversationEffect[],
): void {
  takeDigits(state, "dtmfTimeout", atMs, out);
}

function takeDigits(
  state: ConversationState,
  reason: EndOfTurn["reason"],
  atMs: number,
  out: ConversationEffect[],
): void {
  if (state.user.digits === "") return;
  clearDeadline(state, "dtmf");
  const end = endOfTurn(state.user.lastDigitAtMs, { reason }, atMs);
  // "My PIN is", followed by digits: the words are not final, but were said before the digits.
  const { hearing } = state.user;
  if (hearing.finals !== "" && hearing.interim === "") {
    turnEnded(state, detector.onSilenceTimeout(hearing), { reason }, atMs, out);
  }
  const text = keypadText(state.user.digits);
  state.user.digits = "";
  state.user.dtmfTakenAtMs = atMs;
  state.user.endedAtMs = atMs;
  answerCaller(state, text, end, atMs, out);
}
