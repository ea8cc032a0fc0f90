import { ConversationActor } from "../../engine/conversation/actor.js";
import type { Ending } from "../../engine/conversation/call-end.js";
import {
  DEADLINE_NAMES,
  type DeadlineName,
  type Deadlines,
  dueDeadlines,
  noDeadlines,
} from "../../engine/conversation/deadlines.js";
import type { ConversationEffect, TurnSave } from "../../engine/conversation/effects.js";
import type { ConversationEvent } from "../../engine/conversation/events.js";
import {
  type ConversationSettings,
  newConversation,
  type PreemptiveReply,
  preemptiveReplyOf,
  type Turn,
  turnOf,
} from "../../engine/conversation/state.js";
import type { CancelTimer } from "../../engine/time/clock.js";
import type { HistoryMessage } from "../../storage/records.js";
import { VirtualClock } from "./virtual-clock.js";

type Unstamped<Event> = Event extends ConversationEvent ? Omit<Event, "atMs"> : never;

export const PLAIN_SETTINGS: ConversationSettings = {
  greeting: "Hello! How can I help you today?",
  apology: "I am sorry, I could not answer that just now.",
  cannotTransfer: "I could not put you through.",
  suspended: "This service is not available.",
  transferring: "I will put you through.",
  callEndedByOrganization: "I have to end the call.",
  sensitivity: "medium",
  language: "en",
  languageTag: "en-US",
  languages: [],
  backchannels: "ignore",
  backchannelPhrases: [],
  interruptionPhrases: [],
  preemptiveGeneration: false,
  onProviderFailure: "end",
  silenceTimeoutMs: 700,
  maxEndpointingDelayMs: 1_500,
  dtmfDigits: 0,
  phrases: undefined,
  repeatRequest: "",
  fillerAfterMs: 0,
  idleTimeoutMs: 0,
  durationMaxMs: 1_800_000,
  isPaced: false,
  isStreamed: false,
  tools: [],
  systemPromptChars: 100,
};

/** A call whose effects are written down as lines instead of being performed; its timer runs on a virtual clock. */
export class RecordedCall {
  readonly clock = new VirtualClock(0);
  readonly actor: ConversationActor;
  readonly crashes: unknown[] = [];
  readonly effects: ConversationEffect[] = [];
  /** Those that a step has set, as `NAME DELAY`. */
  readonly deadlinesSet: string[] = [];
  #deadlines: Deadlines = noDeadlines();
  #armedMs: number | undefined;
  #cancelTimer: CancelTimer = () => undefined;
  #lines: string[] = [];
  #voiceAtMs: number | undefined;
  #isSpeaking = false;

  constructor(
    settings: ConversationSettings,
    history: readonly HistoryMessage[] = [],
    voiceMsPerChar?: number,
  ) {
    const performer = {
      perform: (effect: ConversationEffect) => this.#perform(effect),
      wakeAt: (dueMs: number | undefined) => this.#wakeAt(dueMs),
    };
    const begun = newConversation(settings, history, voiceMsPerChar);
    this.actor = new ConversationActor(begun, performer, (error) => {
      this.crashes.push(error);
    });
  }

  get turn(): Turn | undefined {
    return turnOf(this.actor.state);
  }

  get preemptiveReply(): PreemptiveReply | undefined {
    return preemptiveReplyOf(this.actor.state);
  }

  get pendingDeadlines(): readonly DeadlineName[] {
    return DEADLINE_NAMES.filter((name) => this.actor.state.deadlines[name] !== undefined);
  }

  send(event: Unstamped<ConversationEvent>): void {
    this.actor.send({ ...event, atMs: this.clock.monotonicMs() });
  }

  /** As if nothing but this deadline were due now. */
  reach(
    name: DeadlineName,
    agos: { readonly voiceAgoMs?: number | undefined; readonly ttsAudioAgoMs?: number } = {},
  ): void {
    const { deadlines } = this.actor.state;
    for (const other of dueDeadlines(this.actor.state, this.clock.monotonicMs())) {
      if (other !== name) throw new Error(`${other} is due as well`);
    }
    deadlines[name] = this.clock.monotonicMs();
    this.#deadlines[name] = undefined;
    this.send({ type: "deadlineReached", voiceAgoMs: undefined, ...agos });
  }

  /** The server hears a voice in the audio from now on, or no longer. */
  hearVoice(isSpeaking: boolean): void {
    // Told again of a silence, it began no later.
    if (isSpeaking || this.#isSpeaking) this.#voiceAtMs = this.clock.monotonicMs();
    this.#isSpeaking = isSpeaking;
  }

  /** The effects and changed deadlines since the last look, a line each; what a deadline did carries its moment. */
  takeLines(): string[] {
    const lines = this.#lines;
    this.#lines = [];
    return lines;
  }

  #perform(effect: ConversationEffect): void {
    this.effects.push(effect);
    this.#lines.push(describe(effect));
  }

  #wakeAt(dueMs: number | undefined): void {
    this.#describeDeadlines();
    if (dueMs === this.#armedMs) return;
    this.#cancelTimer();
    this.#armedMs = dueMs;
    if (dueMs === undefined) return;
    const fire = () => {
      this.#armedMs = undefined;
      const names = dueDeadlines(this.actor.state, this.clock.monotonicMs());
      for (const name of names) this.#deadlines[name] = undefined;
      this.#lines.push(`-- at ${this.clock.monotonicMs()}: ${names.join(", ")}`);
      this.send({ type: "deadlineReached", voiceAgoMs: this.voiceAgoMs });
    };
    this.#cancelTimer = this.clock.after(dueMs - this.clock.monotonicMs(), fire);
  }

  #describeDeadlines(): void {
    const { deadlines, phase } = this.actor.state;
    for (const name of DEADLINE_NAMES) {
      const dueMs = deadlines[name];
      if (dueMs === this.#deadlines[name]) continue;
      this.#deadlines[name] = dueMs;
      if (dueMs !== undefined) {
        const delayMs = dueMs - this.clock.monotonicMs();
        this.deadlinesSet.push(`${name} ${delayMs}`);
        this.#lines.push(`deadline ${name} in ${delayMs}`);
      } else if (phase !== "ended") this.#lines.push(`no deadline ${name}`);
    }
  }

  get voiceAgoMs(): number | undefined {
    if (this.#voiceAtMs === undefined) return undefined;
    return this.#isSpeaking ? 0 : this.clock.monotonicMs() - this.#voiceAtMs;
  }
}

function describe(effect: ConversationEffect): string {
  switch (effect.type) {
    case "send":
      return `send ${describeMessage(effect.message)}`;
    case "requestReply": {
      const messages = [...effect.history, ...effect.toolMessages];
      const said = messages.map(({ role, content }) => `${role} "${content}"`).join(", ");
      return `ask model #${effect.turnId}: ${noted(effect)}${said}`;
    }
    case "startPreemptiveReply": {
      const said = effect.history.map(({ role, content }) => `${role} "${content}"`).join(", ");
      return `ask early #${effect.turnId}: ${noted(effect)}${said}`;
    }
    case "dropPreemptiveReply":
      return `drop early #${effect.turnId}, ${effect.tokens} tokens`;
    case "synthesize":
      return `synthesize #${effect.turnId}.${effect.index} "${effect.text}"`;
    case "cutSentence":
      return `cut #${effect.turnId}.${effect.index}`;
    case "dropAudio":
      return `drop audio from #${effect.turnId}.${effect.index}`;
    case "playPhrase":
      return `play phrase #${effect.turnId}.${effect.index} "${effect.text}"`;
    case "preparePhrases":
      return `prepare ${effect.texts.map((text) => `"${text}"`).join(", ")}`;
    case "switchLanguage":
      return `switch to ${effect.language}`;
    case "play":
      return `play #${effect.turnId}.${effect.index}`;
    case "runTool":
      return `run tool #${effect.turnId} ${effect.call.name} ${effect.call.argumentsJson}${effect.until === "turnEnds" ? " until the turn ends" : ""}`;
    case "pauseOutput":
      return "hold audio";
    case "resumeAudio":
      return "resume audio";
    case "sendDigits":
      return `send digits ${effect.digits}`;
    case "transfer":
      return `transfer #${effect.turnId} to ${effect.to}${effect.briefing === undefined ? "" : `, warm: "${effect.briefing}"`}`;
    case "abortTurn":
      return `abort turn #${effect.turnId}${effect.hung === undefined ? "" : `, ${effect.hung} hung`}`;
    case "stopModel":
      return `stop model #${effect.turnId}`;
    case "reportBargeIn": {
      const { action, reason } = effect.bargeIn;
      return `barge-in: ${action}, ${reason}`;
    }
    case "reportEndOfTurn": {
      const { reason, waitedMs, waitedFor, language, switchedFrom } = effect.endOfTurn;
      const why = waitedFor === undefined ? reason : `${reason}, ${waitedFor}`;
      const spoken = language === undefined ? "" : `, in ${language}`;
      const before = switchedFrom === undefined ? "" : ` instead of ${switchedFrom}`;
      return `end of turn: ${why} after ${waitedMs} ms${spoken}${before}`;
    }
    case "reportMuted":
      return effect.isMuted ? "muted" : "unmuted";
    case "reportContext":
      return `notes ${effect.context.map((note) => `"${note}"`).join(", ")}`;
    case "reportUnspoken":
      return `unspoken ${effect.unspoken.map((text) => `"${text}"`).join(", ")}`;
    case "saveTurn":
      return `save ${describeSave(effect.save)}`;
    case "end":
      return `end ${effect.ending.status} ${effect.ending.reason}${describeVoicemail(effect.ending)}: ${describeSave(effect.save)}`;
  }
}

function describeVoicemail({ voicemail }: Ending): string {
  if (voicemail === undefined) return "";
  return `, ${voicemail.messageLeft ? "message left" : "message not left"} "${voicemail.text}"`;
}

function noted({
  context = [],
  language,
}: {
  readonly context?: readonly string[];
  readonly language?: string;
}): string {
  const notes = context.map((note) => `note "${note}", `).join("");
  return language === undefined ? notes : `in ${language}, ${notes}`;
}

function describeMessage(
  message: Extract<ConversationEffect, { type: "send" }>["message"],
): string {
  if (message.type === "error") return `error "${message.message}"`;
  if (message.type !== "transcript") return message.type;
  return `${message.role} ${message.isFinal ? "final" : "partial"} "${message.text}"`;
}

function describeSave({ messages, metrics, report, unspoken }: TurnSave): string {
  const said = messages.map(({ role, text, atMs }) => `${role}@${atMs} "${text}"`).join(", ");
  const { turnCount, interruptions, ttfbMs, avgLatencyMs, totalTokens, ttsChars } = metrics;
  const counts = `turns ${turnCount}, interruptions ${interruptions}, ttfb ${ttfbMs}, latency ${avgLatencyMs}, tokens ${totalTokens}, chars ${ttsChars}`;
  const turn = report === undefined ? "" : ` ${JSON.stringify(report)}`;
  const left = unspoken === undefined ? "" : ` unspoken ${unspoken.length}`;
  return `[${said}] {${counts}}${turn}${left}`;
}
