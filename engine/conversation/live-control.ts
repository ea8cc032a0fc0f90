/** What people of the organization do to a call in progress: the agent says something for them, is told something, or is muted. */

import { cutTurn } from "./commit-turn.js";
import {
  CONTEXT_CHARS_MAX,
  type ControlCommand,
  type ControlOutcome,
  SAY_WAITING_MAX,
} from "./control-command.js";
import { clearDeadline, setDeadline } from "./deadlines.js";
import type { ConversationEffect } from "./effects.js";
import type { ControlRequestedEvent } from "./events.js";
import { requestEnd } from "./farewell.js";
import { startScripted } from "./playout.js";
import { dropPreemptiveReply } from "./preemptive-generation.js";
import { speakableSentences } from "./sentences.js";
import { type ConversationState, dropCutSpeech, isPersonThere, turnOf } from "./state.js";
import { pendingText } from "./transcript-buffer.js";
import { answerOrGreet } from "./voicemail.js";

/** A text that waits is tried again so often, where no end of a turn does it. */
const SAY_RECHECK_MS = 250;
/** A voice of the caller that began so lately may become words. */
const VOICE_RECENT_MS = 1_000;

/** What would become of the command now. */
export function controlOutcome(state: ConversationState, command: ControlCommand): ControlOutcome {
  if (state.phase === "ended") return "ended";
  if (command.type === "addContext" || command.type === "unmute") return "done";
  const needsOpenCall = command.type === "sendDigits" || command.type === "transfer";
  if (needsOpenCall && state.phase === "opening") return "opening";
  if (state.phase === "transferring" || turnOf(state)?.ending !== undefined) return "ending";
  if (command.type !== "say" || state.control.waiting.length < SAY_WAITING_MAX) return "done";
  if (!command.interrupt) return "tooManyWaiting";
  // It takes no place among those that wait, unless there is nothing to interrupt yet.
  return state.phase === "opening" ? "opening" : "done";
}

export function onControlRequested(
  state: ConversationState,
  { command, atMs }: ControlRequestedEvent,
  out: ConversationEffect[],
): void {
  if (controlOutcome(state, command) !== "done") return;
  switch (command.type) {
    case "say":
      return say(state, command, atMs, out);
    case "addContext":
      // A reply that was begun early does not know of it.
      dropPreemptiveReply(state, out);
      state.control.context = notesWith(state.control.context, command.text);
      out.push({ type: "reportContext", context: state.control.context });
      return;
    case "sendDigits":
      out.push({ type: "sendDigits", digits: command.digits });
      return;
    case "mute":
      return mute(state, atMs, out);
    case "unmute":
      return unmute(state, atMs, out);
    case "transfer":
      return requestEnd(state, command.ending, atMs, out);
  }
}

/** Texts wait until it is known that nobody is speaking. */
export function onSayDeadline(
  state: ConversationState,
  atMs: number,
  out: ConversationEffect[],
): void {
  if (state.control.waiting.length === 0 || sayWaiting(state, atMs, out)) return;
  setDeadline(state, "say", atMs + SAY_RECHECK_MS);
}

/** Says the next text that waits; false where there is none, or somebody is speaking. */
export function sayWaiting(
  state: ConversationState,
  atMs: number,
  out: ConversationEffect[],
): boolean {
  if (state.control.waiting.length === 0 || !isFloorFree(state, atMs)) return false;
  sayNext(state, atMs, out);
  return true;
}

/** What the call before was to say is said as soon as the agent and the caller are silent. */
export function sayUnspoken(state: ConversationState, atMs: number): void {
  if (state.control.waiting.length > 0) setDeadline(state, "say", atMs + SAY_RECHECK_MS);
}

function say(
  state: ConversationState,
  { text, interrupt }: Extract<ControlCommand, { type: "say" }>,
  atMs: number,
  out: ConversationEffect[],
): void {
  // The agent does not stop for a text in which nothing can be spoken.
  if (speakableSentences(text).length === 0) return;
  const { waiting } = state.control;
  if (!interrupt || state.phase === "opening") {
    state.control.waiting = [...waiting, text];
    reportUnspoken(state, out);
    onSayDeadline(state, atMs, out);
    return;
  }
  state.control.waiting = [text, ...waiting];
  reportUnspoken(state, out);
  stopSpeaking(state, atMs, out);
  sayNext(state, atMs, out);
}

function sayNext(state: ConversationState, atMs: number, out: ConversationEffect[]): void {
  const [text = "", ...waiting] = state.control.waiting;
  state.control.waiting = waiting;
  state.control.saying = text;
  if (waiting.length === 0) clearDeadline(state, "say");
  else setDeadline(state, "say", atMs + SAY_RECHECK_MS);
  startScripted(state, "announcement", speakableSentences(text), atMs, out);
}

/** A text counts as unspoken until its turn is saved: a process that dies before has the next one say it. */
function reportUnspoken({ control }: ConversationState, out: ConversationEffect[]): void {
  const { saying, waiting } = control;
  const unspoken = saying === undefined ? waiting : [saying, ...waiting];
  out.push({ type: "reportUnspoken", unspoken });
}

/** The agent is silent, and the caller does not seem to be in the middle of something. */
function isFloorFree(state: ConversationState, atMs: number): boolean {
  const { user, echo, deadlines } = state;
  if (state.phase !== "live" || turnOf(state) !== undefined) return false;
  // What is said for a person is not for a machine.
  if (!isPersonThere(state)) return false;
  if (pendingText(user.hearing) !== "" || user.digits !== "") return false;
  // What an interruption has cut off is said again if no words follow it.
  if (deadlines.falseInterruption !== undefined || echo.suspected !== undefined) return false;
  return atMs - user.voicedAtMs >= VOICE_RECENT_MS;
}

function mute(state: ConversationState, atMs: number, out: ConversationEffect[]): void {
  if (state.control.isMuted) return;
  state.control.isMuted = true;
  out.push({ type: "reportMuted", isMuted: true });
  dropPreemptiveReply(state, out);
  clearDeadline(state, "idle");
  if (turnOf(state)?.kind !== "announcement") stopSpeaking(state, atMs, out);
}

/** What the caller has said meanwhile is answered now. */
function unmute(state: ConversationState, atMs: number, out: ConversationEffect[]): void {
  if (!state.control.isMuted) return;
  state.control.isMuted = false;
  out.push({ type: "reportMuted", isMuted: false });
  const { user } = state;
  const isSpeaking = pendingText(user.hearing) !== "" || user.digits !== "";
  // The wait begins here: before, nobody was to answer.
  if (user.unanswered !== "" && !isSpeaking && turnOf(state) === undefined) user.endedAtMs = atMs;
  answerOrGreet(state, atMs, out);
}

/** A question of which the caller has heard no answer stays open. */
function stopSpeaking(state: ConversationState, atMs: number, out: ConversationEffect[]): void {
  cutTurn(state, atMs, out);
  clearDeadline(state, "falseInterruption");
  dropCutSpeech(state);
}

function notesWith(notes: readonly string[], note: string): readonly string[] {
  const kept = [...notes, note];
  while (kept.reduce((sum, { length }) => sum + length, 0) > CONTEXT_CHARS_MAX) kept.shift();
  return kept;
}
