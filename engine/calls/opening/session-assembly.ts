import type { HistoryMessage } from "../../../storage/records.js";
import type { HeardFormat } from "../../audio/audio-format.js";
import type { Ending } from "../../conversation/call-end.js";
import type { CallerChannel } from "../../conversation/caller-channel.js";
import type { TurnSave } from "../../conversation/effects.js";
import type { PhraseKeeper } from "../../conversation/prepared-phrases.js";
import { type CallRecorder, EffectRunner } from "../../conversation/runner.js";
import { type CallAudioTap, Session, SessionActor } from "../../conversation/session.js";
import type { SpeechCache, VoicePaces } from "../../conversation/speech-cache.js";
import { newSession, type SessionSettings } from "../../conversation/state.js";
import type { PlayoutDelays } from "../../conversation/synthesis.js";
import type { Logger } from "../../log.js";
import type { Clock } from "../../time/clock.js";
import { ToolLog } from "../../tools/tool-log.js";
import type { EarlyReplyBudget } from "../early-reply-budget.js";
import type { LiveCalls } from "../live-calls.js";
import type { AgentVendors } from "./agent-vendors.js";
import type { CallEntry } from "./call-entry.js";
import type { Slots } from "./call-slots.js";

export interface SessionParts {
  readonly callId: string;
  readonly orgId: string;
  readonly settings: SessionSettings;
  readonly history: readonly HistoryMessage[];
  readonly vendors: AgentVendors;
  readonly caller: CallerChannel;
  readonly entry: CallEntry;
  /** What the recognizer is given. */
  readonly heard: HeardFormat;
  /** Takes the audio of a call that is recorded; undefined for one that is not. */
  readonly tap: CallAudioTap | undefined;
}

export interface AssemblySurroundings {
  readonly cache: SpeechCache;
  readonly playoutDelays: PlayoutDelays;
  readonly voicePaces: VoicePaces;
  readonly phrases: PhraseKeeper;
  readonly earlyReplyBudget: EarlyReplyBudget;
  readonly liveCalls: LiveCalls;
  readonly slots: Slots;
  readonly clock: Clock;
  readonly log: Logger;
}

const INTERNAL_ERROR: Ending = {
  reason: "internalError",
  status: "failed",
  message: "internal error",
};

/** Joins actor and effects into a session that, however it ends, is written down and gives back its slot. */
export function assembleSession(parts: SessionParts, around: AssemblySurroundings): Session {
  const { callId, settings, history, caller, entry } = parts;
  const { llm, tts, answers } = parts.vendors;
  const { cache, playoutDelays, voicePaces, phrases, clock, liveCalls, slots, log } = around;
  const tools = new ToolLog(clock);
  const toolbox = tools.watch(parts.vendors.toolbox);
  const vendorFailed = toldOnce((category, error) => entry.vendorFailed(category, error));
  answers.tell(vendorFailed);
  const recorder: CallRecorder = {
    said: (message) => entry.said(message),
    turnSaved: (save) => entry.turnSaved(save, answers.take(), tools.take()),
    vendorFailed,
    ended: (ending, save) => {
      session.release();
      liveCalls.remove(callId);
      slots.release(callId);
      entry.ended(ending, save);
    },
  };
  const voice = { tts, cache, playoutDelays, voicePaces, phrases };
  const earlyReplies = around.earlyReplyBudget.of(parts.orgId);
  const surroundings = {
    clock,
    llm,
    ...voice,
    toolbox,
    earlyReplies,
    caller,
    recorder,
    log,
    earlier: entry.earlier,
  };
  const runner = new EffectRunner(surroundings, clock.monotonicMs());
  const begun = newSession(settings, history, voicePaces.of(tts.cacheKey));
  const actor = new SessionActor(begun, runner, (error) => {
    log.error({ callId, error }, "the session broke; the call is ended");
    caller.send({ type: "error", message: INTERNAL_ERROR.message });
    caller.end(INTERNAL_ERROR);
    recorder.ended(INTERNAL_ERROR, rescue(actor));
  });
  runner.deliverTo((event) => actor.send(event));
  const vendorLog = { vendorFailed, wasDeaf: (deafMs: number) => entry.wasDeaf(deafMs) };
  const session: Session = new Session(callId, runner, vendorLog, parts.heard, parts.tap);
  entry.attach(llm, () => session.heardMs, settings.durationMaxMs);
  return session;
}

/** A chain tells what failed in it, and the session what the chain gave up with: of one failure once. */
function toldOnce(tell: CallRecorder["vendorFailed"]): CallRecorder["vendorFailed"] {
  const told = new WeakSet<Error>();
  return (category, error) => {
    const isTold = told.has(error) || (error.cause instanceof Error && told.has(error.cause));
    told.add(error);
    if (!isTold) tell(category, error);
  };
}

/** What can still be kept of a call whose transition threw. */
function rescue(actor: SessionActor): TurnSave {
  const { unsaved, metrics } = actor.state;
  return { messages: unsaved, metrics, report: undefined, added: [] };
}
