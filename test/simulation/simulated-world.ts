import { ConversationActor } from "../../engine/conversation/actor.js";
import type { ConversationEffect, TurnSave } from "../../engine/conversation/effects.js";
import type { ConversationEvent } from "../../engine/conversation/events.js";
import { isQuestion } from "../../engine/conversation/lexicon.js";
import {
  type ConversationSettings,
  newConversation,
  turnOf,
} from "../../engine/conversation/state.js";
import { VOICE_QUIET_MAX_MS } from "../../engine/conversation/synthesis.js";
import type { CancelTimer } from "../../engine/time/clock.js";
import { VirtualClock } from "../doubles/virtual-clock.js";
import { AudioCome, charsHeard } from "./audio-come.js";
import { CallerWait } from "./caller-wait.js";
import type { Loudspeaker } from "./loudspeaker.js";
import * as loudspeaker from "./loudspeaker-truth.js";
import { NumberedWords } from "./numbered-words.js";
import { SimulatedCaller } from "./recognized-caller.js";
import { SeededRandom } from "./seeded-random.js";
import { SimulatedBrowser } from "./simulated-browser.js";
import { modelSteps } from "./simulated-model.js";
import { SimulatedTelephone } from "./simulated-telephone.js";
import { MS_PER_CHARACTER, voiceSteps } from "./simulated-voice.js";

type Unstamped<Event> = Event extends ConversationEvent ? Omit<Event, "atMs"> : never;

/** How often each thing goes wrong, from 0 to 1. */
export interface FaultRates {
  readonly model: number;
  readonly speech: number;
  readonly stale: number;
}

/**
 * A world of vendors and one caller around a session, on a virtual clock and one seed. Latencies, faults, late answers
 * and a caller who talks whenever he likes all come from that seed.
 */
export class SimulatedWorld {
  readonly clock = new VirtualClock(0);
  readonly random: SeededRandom;
  readonly caller: SimulatedCaller;
  readonly effects: ConversationEffect[] = [];
  readonly crashes: unknown[] = [];
  readonly actor: ConversationActor;
  #wakesAtMs: number | undefined;
  #cancelTimer: CancelTimer = () => undefined;
  /** Sentences that were given to synthesis, by turn. */
  readonly asked = new Map<number, Map<number, string>>();
  readonly #come = new AudioCome();
  readonly truth = new loudspeaker.LoudspeakerTruth((turn, index) => this.#heardChars(turn, index));
  readonly #aborted = new Set<number>();
  /** How often a turn's audio was dropped: what was asked for before that never comes. */
  readonly #drops = new Map<number, number>();
  readonly #faults: FaultRates;
  readonly #isStreamed: boolean;
  /** For each second try of a sentence, the words that both tries said, and those that neither did. */
  readonly secondTries: loudspeaker.SecondTry[] = [];
  readonly loudspeaker: Loudspeaker;
  readonly #words: NumberedWords;
  readonly callerWait = new CallerWait(this.clock);
  readonly #ready = new Set<string>();

  /** `reports`: half of the browsers tell what they have played, behind a buffer of their own. */
  constructor(seed: number, settings: ConversationSettings, faults: FaultRates, reports = true) {
    this.random = new SeededRandom(seed);
    this.#words = new NumberedWords(this.random);
    this.caller = new SimulatedCaller(this.random, this.clock, (event) => this.send(event));
    this.#faults = faults;
    this.#isStreamed = settings.isStreamed;
    const mayReport = reports && settings.isStreamed;
    this.loudspeaker = settings.isPaced ? this.#newTelephone() : this.#newBrowser(mayReport);
    const performer = {
      perform: (effect: ConversationEffect) => this.#perform(effect),
      wakeAt: (dueMs: number | undefined) => this.#wakeAt(dueMs),
    };
    this.actor = new ConversationActor(newConversation(settings, []), performer, (error) => {
      this.crashes.push(error);
    });
  }

  send(event: Unstamped<ConversationEvent>): void {
    // Who speaks does not wait.
    if (event.type === "speechStarted") this.callerWait.settle();
    if (["speechStarted", "transcript"].includes(event.type)) this.loudspeaker.forgetHole();
    this.actor.send({ ...event, atMs: this.clock.monotonicMs() });
  }

  get wakesAtMs(): number | undefined {
    return this.#wakesAtMs;
  }

  #wakeAt(dueMs: number | undefined): void {
    if (dueMs === this.#wakesAtMs) return;
    this.#cancelTimer();
    this.#wakesAtMs = dueMs;
    if (dueMs === undefined) return;
    this.#cancelTimer = this.clock.after(dueMs - this.clock.monotonicMs(), () => {
      this.#wakesAtMs = undefined;
      this.send({ type: "deadlineReached" });
    });
  }

  #perform(effect: ConversationEffect): void {
    this.effects.push(effect);
    switch (effect.type) {
      case "requestReply":
        this.callerWait.owe();
        return this.#think(effect.turnId);
      case "startPreemptiveReply":
        return this.#think(effect.turnId);
      case "dropPreemptiveReply":
        this.#aborted.add(effect.turnId);
        return;
      case "synthesize":
        return this.#synthesize(effect.turnId, effect.index, effect.text);
      case "abortTurn":
        this.#aborted.add(effect.turnId);
        return;
      case "playPhrase":
        return this.#playPhrase(effect.turnId, effect.index, effect.text);
      case "preparePhrases":
        return this.#prepare(effect.texts);
      case "saveTurn":
        // What follows a reply that failed is still owed.
        if (effect.save.report?.outcome !== "failed") this.callerWait.settle();
        return this.#noteTruth(effect.save);
      case "end":
        return this.#noteTruth(effect.save);
      case "play":
        return this.#play(effect.turnId, effect.index);
      case "pauseOutput":
        return this.loudspeaker.hold();
      case "resumeAudio":
        return this.loudspeaker.resume();
      case "runTool":
        return this.#useTool(effect.turnId, effect.call.id);
      case "send":
        if (effect.message.type !== "audioStop") return;
        this.loudspeaker.clear();
        this.callerWait.stop();
        return;
      case "dropAudio":
        return this.#dropAudio(effect.turnId, effect.index);
      case "cutSentence":
        return this.loudspeaker.cut(effect.turnId, effect.index);
      case "transfer":
        return this.#transfer(effect.turnId);
      case "stopModel":
      case "sendDigits":
      case "switchLanguage":
      case "reportBargeIn":
      case "reportMuted":
      case "reportContext":
      case "reportUnspoken":
      case "reportEndOfTurn":
        return;
    }
  }

  /** Marks get lost now and then, as they do in real networks. */
  #newTelephone(): SimulatedTelephone {
    return new SimulatedTelephone(this.clock, (turnId, index) => {
      if (!this.random.chance(this.#faults.stale / 2))
        this.send({ type: "sentencePlayed", turnId, index });
    });
  }

  /** The words of the sentence that is played which were heard until now, in the order they were said. */
  get heardWords(): readonly string[] {
    const turn = turnOf(this.actor.state);
    const sentences = turn === undefined ? undefined : this.asked.get(turn.id);
    if (turn === undefined || sentences === undefined) return [];
    return loudspeaker.heardWords(sentences, (index) => this.#heardChars(turn.id, index));
  }

  /** What is heard is a question or stands before one, as far as the agent has come. */
  get isAsking(): boolean {
    const turn = turnOf(this.actor.state);
    const sentences = turn === undefined ? undefined : this.asked.get(turn.id);
    if (turn === undefined || sentences === undefined) return false;
    const played = loudspeaker.heardSentence(sentences, (index) =>
      this.#heardChars(turn.id, index),
    );
    const rest = [...sentences].filter(([index]) => index >= (played ?? 0)).slice(0, 2);
    return rest.some(([, text]) => isQuestion(text));
  }

  /** Half of those that may tell what they have played; the others are taken to play at once. */
  #newBrowser(mayReport: boolean): SimulatedBrowser {
    const bufferMs = mayReport ? this.random.whole(-1_500, 1_500) : -1;
    const tell = (turnId: number, playedMs: number) =>
      this.send({ type: "played", turnId, playedMs });
    const onPlayed = bufferMs < 0 ? undefined : tell;
    return new SimulatedBrowser(this.clock, { bufferMs: Math.max(0, bufferMs), onPlayed });
  }

  /** What the loudspeaker has said of a turn, beside what the call says of it. */
  #noteTruth({ report, messages }: TurnSave): void {
    if (report === undefined) return;
    this.loudspeaker.endTurn(report);
    const told = messages.findLast(({ role }) => role === "assistant")?.text ?? "";
    this.truth.note(report.turn, this.asked.get(report.turn) ?? new Map(), told);
  }

  #heardChars(turnId: number, index: number): number {
    return charsHeard(this.#comeOf(turnId, index), this.loudspeaker.heardMs(turnId, index));
  }

  #play(turnId: number, index: number): void {
    const come = this.#comeOf(turnId, index);
    const { ms, isWhole } = come;
    come.isPlayed = true;
    this.loudspeaker.play(turnId, index, ms, isWhole);
    const chars = (this.asked.get(turnId)?.get(index) ?? "").length;
    this.callerWait.hear(chars * MS_PER_CHARACTER, this.actor.state.outputPausedAtMs !== undefined);
  }

  #playPhrase(turnId: number, index: number, text: string): void {
    const durationMs = text.length * MS_PER_CHARACTER;
    this.truth.addPhrase({ turn: turnId, index, text });
    this.loudspeaker.play(turnId, index, durationMs, true);
    this.callerWait.hear(durationMs, this.actor.state.outputPausedAtMs !== undefined);
  }

  #prepare(texts: readonly string[]): void {
    for (const [place, text] of texts.entries()) {
      this.clock.after(300 * (place + 1), () => {
        this.#ready.add(text);
        const durationMs = text.length * MS_PER_CHARACTER;
        // Every other phrase is in a voice that tells of its words.
        const words = [{ text: text.split(" ")[0] ?? "", endMs: durationMs / 4 }];
        this.send({ type: "phraseReady", text, durationMs, ...(place % 2 === 0 && { words }) });
      });
    }
  }

  #useTool(turnId: number, callId: string): void {
    if (this.random.chance(this.#faults.model / 2)) return;
    const delayMs = this.random.whole(5, 3_000);
    // What a service has begun ends there, whatever has become of the turn.
    const failure = this.random.chance(0.3) && { isFailed: true };
    this.clock.after(delayMs, () =>
      this.send({ type: "toolDone", turnId, callId, content: "done", ...failure }),
    );
  }

  /** The vendor takes the call, or does not, or never says; its answer comes whatever has become of the turn. */
  #transfer(turnId: number): void {
    const type = this.random.pick(["transferTaken", "transferRefused", "none"] as const);
    const delayMs = this.random.whole(50, 8_000);
    if (type !== "none") this.clock.after(delayMs, () => this.send({ type, turnId }));
  }

  #think(turnId: number): void {
    for (const { afterMs, event } of modelSteps(this.random, this.#words, this.#faults.model)) {
      this.#later(turnId, afterMs, () => this.send({ ...event, turnId }));
    }
  }

  #synthesize(turnId: number, index: number, text: string): void {
    const { random } = this;
    const sentences = this.asked.get(turnId) ?? new Map<number, string>();
    // The rest of a sentence whose voice failed is part of what was asked for first.
    const before = sentences.get(index);
    if (before?.endsWith(text) === true) {
      const come = this.#comeOf(turnId, index);
      // What came of it before it was played is thrown away.
      if (!come.isPlayed) this.#come.forget(turnId, index);
      else {
        come.again = { cameMs: come.ms, fromChars: before.length - text.length };
        this.secondTries.push(loudspeaker.secondTryOf(before, come.ms, text));
      }
    }
    if (!sentences.get(index)?.endsWith(text)) sentences.set(index, text);
    this.asked.set(turnId, sentences);
    if (this.#ready.has(text)) {
      return this.#audioCame(turnId, index, text.length * MS_PER_CHARACTER, true);
    }
    const isStreamed = this.#isStreamed;
    const drops = this.#drops.get(turnId);
    let lastMs = 0;
    let isOver = false;
    for (const { afterMs, kind, pieceMs } of voiceSteps(text, {
      random,
      isStreamed,
      faultRate: this.#faults.speech,
    })) {
      lastMs = Math.max(lastMs, afterMs);
      isOver ||= kind !== "piece";
      this.#later(turnId, afterMs, () => {
        if (this.#drops.get(turnId) !== drops) return;
        if (kind === "piece" || kind === "last")
          this.#audioCame(turnId, index, pieceMs, kind === "last");
        else this.send({ type: "sentenceFailed", turnId, index, retryable: kind === "failed" });
      });
    }
    // A voice that gives nothing more is given up from outside, where an agent speaks for itself.
    if (isOver || this.#ready.size === 0) return;
    this.#later(turnId, lastMs + VOICE_QUIET_MAX_MS, () =>
      this.send({ type: "sentenceFailed", turnId, index, retryable: true }),
    );
  }

  #audioCame(turnId: number, index: number, pieceMs: number, isLast: boolean): void {
    const come = this.#comeOf(turnId, index);
    if (come.isWhole) return;
    come.ms += pieceMs;
    come.isWhole = isLast;
    this.loudspeaker.grow(turnId, index, come.ms, isLast);
    this.send({
      type: isLast ? "sentenceWhole" : "sentenceGrew",
      turnId,
      index,
      durationMs: come.ms,
      firstByteAtMs: come.firstByteAtMs,
    });
  }

  #dropAudio(turnId: number, from: number): void {
    this.#drops.set(turnId, (this.#drops.get(turnId) ?? 0) + 1);
    for (const index of this.asked.get(turnId)?.keys() ?? []) {
      if (index >= from) this.#come.forget(turnId, index);
    }
  }

  #comeOf(turnId: number, index: number) {
    return this.#come.of(turnId, index, this.clock.monotonicMs());
  }

  /** What was aborted mostly stays away; now and then it was already under way. */
  #later(turnId: number, delayMs: number, action: () => void): void {
    this.clock.after(delayMs, () => {
      if (!this.#aborted.has(turnId) || this.random.chance(this.#faults.stale)) action();
    });
  }
}
