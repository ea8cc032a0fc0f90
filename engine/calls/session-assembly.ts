import type { HistoryMessage } from "../../storage/records.js";
import type { Logger } from "../log.js";
import type { CallAudioTap } from "../session/call-audio-tap.js";
import type { CallerChannel } from "../session/caller-channel.js";
import { type CallRecorder, EffectRunner } from "../session/effect-runner.js";
import type { TurnSave } from "../session/effects.js";
import type { Ending } from "../session/ending.js";
import type { PlayoutDelays } from "../session/playout-delay.js";
import { Session } from "../session/session.js";
import { SessionActor } from "../session/session-actor.js";
import type { SpeechCache } from "../session/speech-cache.js";
import { newSession, type SessionSettings } from "../session/state.js";
import type { Clock } from "../time/clock.js";
import type { AgentVendors } from "./agent-vendors.js";
import type { CallEntry } from "./call-journal.js";
import type { CallSlots } from "./call-slots.js";
import type { LiveCalls } from "./live-calls.js";

export interface SessionParts {
  readonly callId: string;
  readonly settings: SessionSettings;
  readonly history: readonly HistoryMessage[];
  readonly vendors: AgentVendors;
  readonly caller: CallerChannel;
  readonly entry: CallEntry;
  readonly bytesPerMs: number;
  /** Takes the audio of a call that is recorded; undefined for one that is not. */
  readonly tap: CallAudioTap | undefined;
}

export interface AssemblySurroundings {
  readonly cache: SpeechCache;
  readonly playoutDelays: PlayoutDelays;
  readonly liveCalls: LiveCalls;
  readonly slots: CallSlots;
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
  const { llm, tts, toolbox } = parts.vendors;
  const { cache, playoutDelays, clock, liveCalls, slots, log } = around;
  const recorder: CallRecorder = {
    turnSaved: (save) => entry.turnSaved(save),
    vendorFailed: (category, error) => entry.vendorFailed(category, error),
    ended: (ending, save) => {
      session.release();
      liveCalls.remove(callId);
      slots.release(callId);
      entry.ended(ending, save);
    },
  };
  const surroundings = { clock, llm, tts, toolbox, cache, playoutDelays, caller, recorder, log };
  const runner = new EffectRunner(surroundings, clock.monotonicMs());
  const actor = new SessionActor(newSession(settings, history), runner, (error) => {
    log.error({ callId, error }, "the session broke; the call is ended");
    caller.send({ type: "error", message: INTERNAL_ERROR.message });
    caller.end(INTERNAL_ERROR);
    recorder.ended(INTERNAL_ERROR, rescue(actor));
  });
  runner.deliverTo((event) => actor.send(event));
  const session: Session = new Session(callId, runner, entry, parts.bytesPerMs, parts.tap);
  entry.attach(llm, () => session.heardMs);
  return session;
}

/** What can still be kept of a call whose transition threw. */
function rescue(actor: SessionActor): TurnSave {
  const { unsaved, metrics, history } = actor.state;
  return { messages: unsaved, metrics, report: undefined, history };
}
