/** Performs the effects of a call: LLM, TTS, tools, messages; and keeps its one timer. */

import type { Logger } from "../log.js";
import type { CancelTimer, Clock } from "../time/clock.js";
import { type ChatMessage, type LanguageModel, VendorError } from "../vendors/contracts.js";
import type { Ending } from "./call-end.js";
import type { CallerChannel, SentenceId } from "./caller-channel.js";
import type {
  ClientMessage,
  ContinuedAnswerer,
  ConversationEffect,
  EffectPerformer,
  TurnSave,
} from "./effects.js";
import type { ConversationEvent } from "./events.js";
import { languageName } from "./lexicon.js";
import { withPassages } from "./passages-note.js";
import type { PreparedPhrases } from "./prepared-phrases.js";
import type { BargeIn, EndOfTurn } from "./reasons.js";
import type { SpeechCache, SpokenSentence, VoicePaces } from "./speech-cache.js";
import {
  type AgentTts,
  deliverSpoken,
  type PlayoutDelays,
  SentenceDelivery,
  speakSentence,
} from "./synthesis.js";
import { historyForModel } from "./tool-history.js";
import type { Toolbox } from "./toolbox.js";

/** No machine is this late by itself: the thread, or the whole machine, had other work. */
const LATE_MAX_MS = 50;
/** Within this time the thread reads and decodes what has arrived. */
const READING_MS = 100;

/**
 * The one timer of a call, for its next deadline. If the thread was busy when a deadline was due, the timer
 * reports it a little later: the awaited event may have arrived and be read next.
 */
export class DeadlineTimer {
  readonly #clock: Clock;
  readonly #onDue: () => void;
  #dueMs: number | undefined;
  #readUntilMs = Number.NEGATIVE_INFINITY;
  #cancel: CancelTimer = () => undefined;

  constructor(clock: Clock, onDue: () => void) {
    this.#clock = clock;
    this.#onDue = onDue;
  }

  /** `dueMs` is on the clock; undefined stops the timer. A due time that is already armed changes nothing. */
  arm(dueMs: number | undefined): void {
    if (dueMs === this.#dueMs) return;
    this.#cancel();
    this.#dueMs = dueMs;
    if (dueMs === undefined) return;
    this.#wait(Math.max(dueMs, this.#readUntilMs));
  }

  #wait(untilMs: number): void {
    const nowMs = this.#clock.monotonicMs();
    const fireMs = Math.max(untilMs, nowMs);
    this.#cancel = this.#clock.after(fireMs - nowMs, () => this.#onFired(fireMs));
  }

  #onFired(expectedMs: number): void {
    const nowMs = this.#clock.monotonicMs();
    // The system's timers count whole milliseconds, and may fire early.
    if (nowMs < expectedMs) return this.#wait(expectedMs);
    if (nowMs - expectedMs > LATE_MAX_MS && expectedMs !== this.#readUntilMs) {
      this.#readUntilMs = nowMs + READING_MS;
      return this.#wait(this.#readUntilMs);
    }
    this.#dueMs = undefined;
    this.#onDue();
  }
}

/** TTS gets the greeting first. */
const PREPARE_AFTER_MS = 300;

export interface PhraseDeps {
  readonly caller: CallerChannel;
  readonly phrases: PreparedPhrases;
  readonly tts: AgentTts;
  readonly cache: SpeechCache;
  readonly clock: Clock;
}

/** The phrases that a call can play immediately, even if TTS is down. */
export class CallPhrases {
  readonly #deps: PhraseDeps;
  readonly #onReady: (text: string, spoken: SpokenSentence) => void;
  readonly #ready = new Map<string, SpokenSentence>();
  #tts: AgentTts;
  #isClosed = false;
  #cancel: CancelTimer = () => undefined;

  constructor(deps: PhraseDeps, onReady: (text: string, spoken: SpokenSentence) => void) {
    this.#deps = deps;
    this.#tts = deps.tts;
    this.#onReady = onReady;
  }

  /** Phrases that are prepared from now on are said by this voice; none of the earlier voice's are awaited or played. */
  use(tts: AgentTts): void {
    this.#cancel();
    this.#ready.clear();
    this.#tts = tts;
  }

  get(text: string): SpokenSentence | undefined {
    return this.#ready.get(text);
  }

  /** Throws for a phrase that is not ready. */
  play(text: string, { turnId, index }: SentenceId): void {
    const spoken = this.#ready.get(text);
    if (spoken === undefined) throw new Error("a phrase was played before it was ready");
    this.#deps.caller.sendAudio(spoken.audio, { turnId, index }, true);
  }

  /** Phrases that the voice has already said are ready immediately; the others are synthesized one after the other. */
  prepare(texts: readonly string[]): void {
    const { phrases, clock } = this.#deps;
    const tts = this.#tts;
    const missing: string[] = [];
    for (const text of texts) {
      const spoken = phrases.find(tts, text);
      if (spoken === undefined) missing.push(text);
      else this.#notify(text, spoken);
    }
    if (missing.length === 0) return;
    this.#cancel = clock.after(PREPARE_AFTER_MS, () => void this.#play(missing));
  }

  close(): void {
    this.#isClosed = true;
    this.#cancel();
  }

  async #play(texts: readonly string[]): Promise<void> {
    const { phrases, cache } = this.#deps;
    const tts = this.#tts;
    for (const text of texts) {
      const spoken = await phrases.prepare(tts, text, cache);
      // If TTS fails now, the next call requests the phrase again.
      if (spoken === undefined || this.#isClosed || tts !== this.#tts) return;
      this.#notify(text, spoken);
    }
  }

  #notify(text: string, spoken: SpokenSentence): void {
    this.#ready.set(text, spoken);
    this.#onReady(text, spoken);
  }
}

export interface AgentLlm {
  readonly vendor: string;
  readonly client: LanguageModel;
  readonly modelId: string;
  readonly systemPrompt: string;
  readonly temperature: number | null;
  readonly maxTokens: number;
}

/** Where a call is recorded, and who is notified of its end. */
export interface CallRecorder {
  /** The messages that the caller's client received. */
  addMessages(message: ClientMessage): void;
  /** A barge-in decision about the agent's turn that is playing. */
  bargedIn(turnId: number, bargeIn: BargeIn): void;
  /** The caller's turn that this agent turn answers is over. */
  callerTurnEnded(turnId: number, endOfTurn: EndOfTurn): void;
  /** The caller speaks another of the agent's languages, and the agent follows. */
  languageSwitched(language: string): void;
  /** The agent was muted, or may speak again. */
  agentMuted(isMuted: boolean): void;
  /** All notes for the LLM, of which one is new. */
  contextAdded(context: readonly string[]): void;
  /** All texts that are still to be said for people, of which one is new. */
  textOrdered(unspoken: readonly string[]): void;
  /** What is known of who has answered a placed call has changed. */
  answererChanged(answerer: ContinuedAnswerer): void;
  turnSaved(save: TurnSave): void;
  vendorFailed(category: "llm" | "tts" | "stt", error: VendorError): void;
  ended(ending: Ending, save: TurnSave): void;
}

/** The budget of an organization for preemptive replies that are discarded. */
export interface PreemptiveAllowance {
  mayRequest(): boolean;
  /** This many tokens of a preemptive reply were discarded. */
  wasted(tokens: number): void;
}

/**
 * What the LLM is told about the part of the conversation that its messages no longer contain; "" if they contain
 * all.
 */
export interface EarlierConversation {
  readonly note: string;
}

/** What the agent can look up. */
export interface AgentKnowledgeSource {
  /** What the LLM is told in addition to its prompt for this turn; never rejects. */
  noteFor(turnId: number, question: string): string | Promise<string>;
}

export interface EffectDeps {
  readonly clock: Clock;
  readonly llm: AgentLlm;
  readonly tts: AgentTts;
  /** The agent's voice in another of its languages; left out for an agent with one language. */
  readonly ttsIn?: (language: string) => AgentTts;
  readonly toolbox: Toolbox;
  readonly preemptiveReplies: PreemptiveAllowance;
  readonly cache: SpeechCache;
  readonly playoutDelays: PlayoutDelays;
  readonly voicePaces: VoicePaces;
  readonly phrases: PreparedPhrases;
  readonly caller: CallerChannel;
  readonly recorder: CallRecorder;
  readonly log: Logger;
  readonly earlier?: EarlierConversation;
  readonly knowledge?: AgentKnowledgeSource | undefined;
}

/** Interrupted turns leave their tools running: two rounds with the maximum number of tools per turn. */
const TOOLS_AT_WORK_MAX = 16;
const TOO_MANY_TOOLS = JSON.stringify({
  ok: false,
  error: "not done: too many tools are running; wait for their results first",
});

type ReplyRequest = Pick<
  Extract<ConversationEffect, { type: "requestReply" }>,
  "turnId" | "history" | "context" | "language" | "mustAnswer"
>;

/** What the LLM reads of notes that were added during the call; empty where there are none. */
function contextNote(context: readonly string[]): string {
  if (context.length === 0) return "";
  return ["Notes that were added during the call:", ...context.map((note) => `- ${note}`)].join(
    "\n",
  );
}

/** What the LLM reads of the caller's language; empty before it has changed. */
function languageNote(tag: string | undefined): string {
  if (tag === undefined) return "";
  const name = languageName(tag) ?? tag;
  return `The caller speaks ${name} now: answer in ${name}.`;
}

interface TurnWork {
  /** A turn keeps its voice, also where its last sentences are requested after the language has changed. */
  readonly tts: AgentTts;
  readonly model: AbortController;
  readonly syntheses: Map<number, AbortController>;
  readonly deliveries: Map<number, SentenceDelivery>;
}

type Unstamped<Event> = Event extends ConversationEvent ? Omit<Event, "atMs"> : never;

/** Performs the effects of one call's steps: the only place of a conversation with side effects. */
export class EffectRunner implements EffectPerformer {
  readonly #deps: EffectDeps;
  readonly #startedAtMs: number;
  readonly #deadline: DeadlineTimer;
  readonly #turns = new Map<number, TurnWork>();
  readonly #phrases: CallPhrases;
  readonly #callEnds = new AbortController();
  #tts: AgentTts;
  #toolsAtWork = 0;
  #voiceAtMs: number | undefined;
  #deliver: (event: ConversationEvent) => void = () => {};

  constructor(deps: EffectDeps, startedAtMs: number) {
    this.#deps = deps;
    this.#tts = deps.tts;
    this.#phrases = new CallPhrases(deps, (text, { durationMs, words }) => {
      this.report({ type: "phraseReady", text, durationMs, words });
    });
    this.#startedAtMs = startedAtMs;
    this.#deadline = new DeadlineTimer(deps.clock, () => {
      const { voiceAgoMs } = this;
      this.report({ type: "deadlineReached", voiceAgoMs, ttsAudioAgoMs: this.#ttsAudioAgoMs });
    });
  }

  /** Sets the receiver of all events; called once, before the first effect. */
  deliverTo(deliver: (event: ConversationEvent) => void): void {
    this.#deliver = deliver;
  }

  /** In ms, on the server's monotonic clock. */
  get nowMs(): number {
    return this.#deps.clock.monotonicMs();
  }

  /** The VAD hears a voice in the caller's audio, whatever STT returns. */
  noteVoice(): void {
    this.#voiceAtMs = this.#deps.clock.monotonicMs();
  }

  /** Stamps the event with the call's clock and hands it to the actor. */
  report(event: Unstamped<ConversationEvent>): void {
    this.#deliver({ ...event, atMs: this.#onCallClock(this.#deps.clock.monotonicMs()) });
  }

  perform(effect: ConversationEffect): void {
    switch (effect.type) {
      case "send":
        this.#deps.caller.send(effect.message);
        return this.#deps.recorder.addMessages(effect.message);
      case "requestReply":
        return this.#requestReply(effect, effect.toolMessages);
      case "startPreemptiveReply":
        return this.#startPreemptiveReply(effect);
      case "dropPreemptiveReply":
        this.#deps.preemptiveReplies.wasted(effect.tokens);
        return this.#abortTurn(effect.turnId);
      case "runTool":
        return this.#runTool(effect);
      case "synthesize":
        return this.#synthesize(effect.turnId, effect.index, effect.text);
      case "play":
        return this.#deliveryOf(effect.turnId, effect.index).play();
      case "playPhrase":
        return this.#phrases.play(effect.text, effect);
      case "preparePhrases":
        return this.#phrases.prepare(effect.texts);
      case "switchLanguage":
        return this.#switchLanguage(effect.language);
      case "cutSentence":
        return this.#cutSentence(effect.turnId, effect.index);
      case "dropAudio":
        return this.#dropAudio(effect.turnId, effect.index);
      case "pauseOutput":
        return this.#deps.caller.pauseOutput();
      case "resumeAudio":
        return this.#deps.caller.resumeAudio();
      case "sendDigits":
        return void this.#deps.caller.sendDigits(effect.digits);
      case "transfer":
        return void this.#transfer(effect);
      case "abortTurn":
        if (effect.hung !== undefined) this.#noteHung(effect.hung);
        return this.#abortTurn(effect.turnId);
      case "stopModel":
        return this.#turns.get(effect.turnId)?.model.abort();
      case "reportBargeIn":
        return this.#deps.recorder.bargedIn(effect.turnId, effect.bargeIn);
      case "reportEndOfTurn":
        return this.#deps.recorder.callerTurnEnded(effect.turnId, effect.endOfTurn);
      case "reportMuted":
        return this.#deps.recorder.agentMuted(effect.isMuted);
      case "reportContext":
        return this.#deps.recorder.contextAdded(effect.context);
      case "reportUnspoken":
        return this.#deps.recorder.textOrdered(effect.unspoken);
      case "reportAnswerer":
        return this.#deps.recorder.answererChanged(effect.answerer);
      case "saveTurn":
        return this.#deps.recorder.turnSaved(effect.save);
      case "end":
        return this.#end(effect.ending, effect.save);
    }
  }

  wakeAt(dueMs: number | undefined): void {
    this.#deadline.arm(dueMs === undefined ? undefined : dueMs + this.#startedAtMs);
  }

  /** Stops all work in progress; also after a crash, when no step requests it. */
  dispose(): void {
    this.#phrases.close();
    this.#callEnds.abort();
    this.#deadline.arm(undefined);
    for (const turnId of this.#turns.keys()) this.#abortTurn(turnId);
  }

  #requestReply(
    { turnId, history, context = [], language, ...request }: ReplyRequest,
    toolMessages: readonly ChatMessage[],
  ): void {
    const mustAnswer = request.mustAnswer === true;
    const hasTools = this.#deps.toolbox.definitions.length > 0;
    const conversation = [...historyForModel(history, hasTools), ...toolMessages];
    const { signal } = this.#workOf(turnId).model;
    const question = conversation.findLast(({ role }) => role === "user")?.content ?? "";
    const passages = this.#deps.knowledge?.noteFor(turnId, question) ?? "";
    const added = [languageNote(language), contextNote(context)];
    const complete = (note: string) => {
      if (note !== "") this.report({ type: "passagesAdded", turnId, chars: note.length });
      this.#complete({ turnId, mustAnswer }, withPassages(conversation, note), added, signal);
    };
    if (typeof passages === "string") return complete(passages);
    void passages.then((note) => {
      if (!signal.aborted) complete(note);
    });
  }

  /** Text that changes during a call follows the prompt, so that vendors can cache the beginning. */
  #complete(
    { turnId, mustAnswer }: { readonly turnId: number; readonly mustAnswer: boolean },
    conversation: readonly ChatMessage[],
    notes: readonly string[],
    signal: AbortSignal,
  ): void {
    const { client, modelId, systemPrompt, temperature, maxTokens } = this.#deps.llm;
    const tools = this.#deps.toolbox.definitions;
    const note = this.#deps.earlier?.note ?? "";
    const content = [systemPrompt, note, ...notes].filter((part) => part !== "").join("\n\n");
    const messages = [{ role: "system", content } as const, ...conversation];
    const toolChoice = mustAnswer ? ({ toolChoice: "none" } as const) : {};
    const offer = tools.length > 0 ? { tools, ...toolChoice } : {};
    client
      .complete(
        { modelId, messages, temperature, maxTokens, ...offer },
        (text) => this.report({ type: "replyToken", turnId, text }),
        signal,
      )
      .then(
        ({ promptTokens, completionTokens, toolCalls }) => {
          const tokens = promptTokens + completionTokens;
          this.report({ type: "replyDone", turnId, tokens, toolCalls });
        },
        (error: unknown) => {
          if (signal.aborted) return;
          const retryable = this.#noteFailure("llm", this.#deps.llm.vendor, error);
          this.report({ type: "replyFailed", turnId, retryable });
        },
      );
  }

  #startPreemptiveReply(
    effect: Extract<ConversationEffect, { type: "startPreemptiveReply" }>,
  ): void {
    if (this.#deps.preemptiveReplies.mayRequest()) this.#requestReply(effect, []);
    else this.report({ type: "preemptiveRefused", turnId: effect.turnId });
  }

  #runTool({ turnId, call, until }: Extract<ConversationEffect, { type: "runTool" }>): void {
    if (this.#toolsAtWork >= TOOLS_AT_WORK_MAX) {
      return this.report({ type: "toolDone", turnId, callId: call.id, content: TOO_MANY_TOOLS });
    }
    const { signal } = this.#stopOf(turnId, until);
    this.#toolsAtWork += 1;
    this.#deps.toolbox.run(call, this.#deps.caller, signal).then(
      ({ content, spoken, isFailed }) => {
        this.#toolsAtWork -= 1;
        const { voiceAgoMs } = this;
        const failure = isFailed === true ? { isFailed, voiceAgoMs } : {};
        this.report({ type: "toolDone", turnId, callId: call.id, content, spoken, ...failure });
      },
      (error: unknown) => {
        this.#toolsAtWork -= 1;
        if (signal.aborted) return;
        this.#deps.log.error({ error, tool: call.name }, "a tool broke its contract");
        const content = "The tool failed.";
        const failure = { isFailed: true, voiceAgoMs: this.voiceAgoMs };
        this.report({ type: "toolDone", turnId, callId: call.id, content, ...failure });
      },
    );
  }

  #stopOf(turnId: number, until: "turnEnds" | "callEnds" | "done"): AbortController {
    if (until === "turnEnds") return this.#workOf(turnId).model;
    return until === "callEnds" ? this.#callEnds : new AbortController();
  }

  async #transfer({
    turnId,
    transfer,
  }: Extract<ConversationEffect, { type: "transfer" }>): Promise<void> {
    const isTaken = await this.#deps.caller.transfer(transfer);
    if (isTaken === false) return this.report({ type: "transferRefused", turnId });
    this.report({ type: "transferTaken", turnId, ...(isTaken === "blind" && { isBlind: true }) });
  }

  #synthesize(turnId: number, index: number, text: string): void {
    const work = this.#workOf(turnId);
    work.syntheses.get(index)?.abort();
    const { tts } = work;
    const { cache, clock, voicePaces } = this.#deps;
    const delivery = this.#startDelivery(work, { turnId, index }, text);
    const ready = this.#phrases.get(text);
    if (ready !== undefined) return deliverSpoken(ready, delivery);
    const abort = new AbortController();
    work.syntheses.set(index, abort);
    speakSentence(tts, text, cache, delivery, abort.signal, clock).then(
      (durationMs) => {
        voicePaces.record(tts.cacheKey, text, durationMs);
        if (!abort.signal.aborted) work.syntheses.delete(index);
      },
      (error: unknown) => {
        if (abort.signal.aborted) return;
        work.syntheses.delete(index);
        const retryable = this.#noteFailure("tts", tts.vendor, error);
        this.report({ type: "sentenceFailed", turnId, index, retryable });
      },
    );
  }

  /** A second attempt continues where the first was heard, and replaces its unheard rest. */
  #startDelivery(work: TurnWork, id: SentenceId, text: string): SentenceDelivery {
    const { tts } = work;
    const { caller, clock, playoutDelays, voicePaces } = this.#deps;
    const known = work.deliveries.get(id.index);
    if (known?.isPlaying === true) return known;
    known?.drop();
    const delivery = new SentenceDelivery({
      id,
      caller,
      clock,
      playoutDelay: tts.format.isStreamed ? playoutDelays.of(tts.cacheKey) : undefined,
      expectedMs: text.length * voicePaces.of(tts.cacheKey),
      report: ({ firstByteAtMs: atMs, ...sound }) =>
        this.report({ ...sound, ...id, firstByteAtMs: this.#onCallClock(atMs) }),
    });
    work.deliveries.set(id.index, delivery);
    return delivery;
  }

  #switchLanguage(language: string): void {
    this.#deps.recorder.languageSwitched(language);
    this.#tts = this.#deps.ttsIn?.(language) ?? this.#deps.tts;
    this.#tts.client.warm();
    this.#phrases.use(this.#tts);
  }

  #cutSentence(turnId: number, index: number): void {
    this.#turns.get(turnId)?.syntheses.get(index)?.abort();
    this.#deliveryOf(turnId, index).cut();
  }

  #dropAudio(turnId: number, from: number): void {
    const work = this.#turns.get(turnId);
    if (work === undefined) return;
    for (const [index, synthesis] of work.syntheses) {
      if (index < from) continue;
      synthesis.abort();
      work.syntheses.delete(index);
    }
    for (const [index, delivery] of work.deliveries) {
      if (index < from) continue;
      delivery.drop();
      work.deliveries.delete(index);
    }
  }

  #deliveryOf(turnId: number, index: number): SentenceDelivery {
    const delivery = this.#turns.get(turnId)?.deliveries.get(index);
    if (delivery === undefined) throw new Error(`sentence ${index} of turn ${turnId} has no audio`);
    return delivery;
  }

  #abortTurn(turnId: number): void {
    const work = this.#turns.get(turnId);
    if (work === undefined) return;
    this.#turns.delete(turnId);
    work.model.abort();
    for (const synthesis of work.syntheses.values()) synthesis.abort();
    for (const delivery of work.deliveries.values()) delivery.drop();
  }

  /** How long ago the caller's audio held a voice; undefined before the first. */
  get voiceAgoMs(): number | undefined {
    return this.#voiceAtMs === undefined ? undefined : this.nowMs - this.#voiceAtMs;
  }

  get #ttsAudioAgoMs(): number | undefined {
    const deliveries = [...this.#turns.values()].flatMap((work) => [...work.deliveries.values()]);
    const times = deliveries.map(
      ({ newestByteAtMs }) => newestByteAtMs ?? Number.NEGATIVE_INFINITY,
    );
    const newestMs = Math.max(...times);
    return Number.isFinite(newestMs) ? this.nowMs - newestMs : undefined;
  }

  #end(ending: Ending, save: TurnSave): void {
    this.dispose();
    this.#deps.caller.end(ending);
    this.#deps.recorder.ended(ending, save);
  }

  /** Only the newest turn starts work; leftovers of older turns are dropped. */
  #workOf(turnId: number): TurnWork {
    const known = this.#turns.get(turnId);
    if (known !== undefined) return known;
    for (const older of this.#turns.keys()) this.#abortTurn(older);
    const model = new AbortController();
    const work = { tts: this.#tts, model, syntheses: new Map(), deliveries: new Map() };
    this.#turns.set(turnId, work);
    return work;
  }

  #noteFailure(category: "llm" | "tts", vendor: string, error: unknown): boolean {
    if (error instanceof VendorError) {
      this.#deps.recorder.vendorFailed(category, error);
      return error.retryable;
    }
    this.#deps.log.error({ vendor, category, error }, "a vendor client broke its contract");
    return false;
  }

  /** The conversation stops waiting and aborts the vendor's client before the client reports a failure. */
  #noteHung(category: "llm" | "tts"): void {
    const { vendor } = category === "tts" ? this.#tts : this.#deps.llm;
    const error = new VendorError(vendor, "timeout", "returned nothing in time");
    this.#deps.recorder.vendorFailed(category, error);
  }

  #onCallClock(monotonicMs: number): number {
    return monotonicMs - this.#startedAtMs;
  }
}
