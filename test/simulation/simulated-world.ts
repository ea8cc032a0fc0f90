import type { SessionEffect } from "../../engine/session/effects.js";
import type { SessionEvent, TimerName } from "../../engine/session/events.js";
import { SessionActor } from "../../engine/session/session-actor.js";
import { newSession, type SessionSettings } from "../../engine/session/state.js";
import type { CancelTimer } from "../../engine/time/clock.js";
import { VirtualClock } from "../doubles/virtual-clock.js";
import { SeededRandom } from "./seeded-random.js";
import { SimulatedTelephone } from "./simulated-telephone.js";

type Unstamped<Event> = Event extends SessionEvent ? Omit<Event, "atMs"> : never;

const WORDS = [
  "yes",
  "no",
  "maybe",
  "a",
  "table",
  "for",
  "two",
  "please",
  "Mr.",
  "tomorrow",
  "wait",
  "3.50",
];
/** The names include a tool that was not offered: models make names up. */
const TOOLS = ["weather", "weather", "weather", "hangup", "unknown"];
const MS_PER_CHARACTER = 60;
const MARKS = [".", "!", "?", ",", "", "", ""];

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
  readonly effects: SessionEffect[] = [];
  readonly crashes: unknown[] = [];
  readonly actor: SessionActor;
  readonly timers = new Map<TimerName, CancelTimer>();
  /** Sentences that were given to synthesis, by turn. */
  readonly asked = new Map<number, Map<number, string>>();
  readonly #aborted = new Set<number>();
  readonly #faults: FaultRates;
  readonly #telephone: SimulatedTelephone | undefined;
  #wordEndMs = 0;

  constructor(seed: number, settings: SessionSettings, faults: FaultRates) {
    this.random = new SeededRandom(seed);
    this.#faults = faults;
    this.#telephone = settings.isPaced ? this.#newTelephone() : undefined;
    const performer = { perform: (effect: SessionEffect) => this.#perform(effect) };
    this.actor = new SessionActor(newSession(settings, []), performer, (error) => {
      this.crashes.push(error);
    });
  }

  send(event: Unstamped<SessionEvent>): void {
    this.actor.send({ ...event, atMs: this.clock.monotonicMs() });
  }

  /** The caller says something, as a recognizer reports it: with or without its marks of the beginning and the end. */
  speak(): void {
    const { random } = this;
    const words = Array.from({ length: random.whole(0, 5) }, () => random.pick(WORDS));
    if (random.chance(0.1)) this.send({ type: "digit", digit: random.pick(["1", "5", "#"]) });
    if (random.chance(0.8)) this.send({ type: "speechStarted" });
    for (const [index] of words.entries()) {
      this.clock.advance(random.whole(50, 400));
      if (random.chance(0.6)) this.#hear(words.slice(0, index + 1).join(" "), false, false);
    }
    this.clock.advance(random.whole(10, 400));
    const ending = random.fraction();
    if (ending < 0.6) this.#hear(words.join(" "), true, true);
    else if (ending < 0.8) this.#hear(words.join(" "), true, false);
    if (random.chance(0.4)) {
      this.clock.advance(random.whole(0, 1_200));
      this.send({ type: "utteranceEnd", lastWordEndMs: this.#wordEndMs, endedAgoMs: 1_000 });
    }
  }

  leave(): void {
    const ending = {
      reason: "callerLeft",
      status: "completed",
      message: "the caller hung up",
    } as const;
    this.send({ type: "endRequested", ending });
  }

  #hear(text: string, isFinal: boolean, speechFinal: boolean): void {
    this.#wordEndMs = Math.max(this.#wordEndMs + 1, this.clock.monotonicMs());
    const lastWordEndMs = text === "" ? undefined : this.#wordEndMs;
    this.send({ type: "transcript", text, isFinal, speechFinal, lastWordEndMs, endedAgoMs: 50 });
  }

  #perform(effect: SessionEffect): void {
    this.effects.push(effect);
    switch (effect.type) {
      case "askModel":
        return this.#think(effect.turnId);
      case "synthesize":
        return this.#synthesize(effect.turnId, effect.index, effect.text);
      case "abortTurn":
        this.#aborted.add(effect.turnId);
        return;
      case "startTimer":
        return this.#startTimer(effect.timer, effect.delayMs);
      case "cancelTimer":
        this.timers.get(effect.timer)?.();
        this.timers.delete(effect.timer);
        return;
      case "end":
        for (const cancel of this.timers.values()) cancel();
        this.timers.clear();
        return;
      case "play":
        return this.#play(effect.turnId, effect.index);
      case "holdAudio":
        return this.#telephone?.hold();
      case "resumeAudio":
        return this.#telephone?.resume();
      case "runTool":
        return this.#useTool(effect.turnId, effect.call.id);
      case "send":
        if (effect.message.type === "audioStop") this.#telephone?.clear();
        return;
      case "cutSentence":
      case "stopModel":
      case "saveTurn":
        return;
    }
  }

  /** Marks get lost now and then, as they do in real networks. */
  #newTelephone(): SimulatedTelephone {
    return new SimulatedTelephone(this.clock, (turnId, index) => {
      if (!this.random.chance(this.#faults.stale / 2))
        this.send({ type: "sentenceHeard", turnId, index });
    });
  }

  #play(turnId: number, index: number): void {
    const text = this.asked.get(turnId)?.get(index) ?? "";
    this.#telephone?.play(turnId, index, text.length * MS_PER_CHARACTER);
  }

  #useTool(turnId: number, callId: string): void {
    if (this.random.chance(this.#faults.model / 2)) return;
    const delayMs = this.random.whole(5, 3_000);
    this.#later(turnId, delayMs, () =>
      this.send({ type: "toolDone", turnId, callId, content: "done" }),
    );
  }

  #think(turnId: number): void {
    const { random } = this;
    const tokenCount = random.chance(0.05) ? 0 : random.whole(1, 40);
    const fault = random.chance(this.#faults.model)
      ? random.pick(["fail", "refuse", "stall"])
      : "none";
    const breakAt = fault === "none" ? -1 : random.whole(0, tokenCount);
    let delayMs = random.whole(50, 900);
    for (let index = 0; index < tokenCount && index !== breakAt; index += 1) {
      const text = `${random.pick(WORDS)}${random.pick(MARKS)} `;
      this.#later(turnId, delayMs, () => this.send({ type: "replyToken", turnId, text }));
      delayMs += random.whole(0, 60);
    }
    if (fault === "stall") return;
    const tokens = random.whole(10, 80);
    this.#later(turnId, delayMs, () => {
      const toolCalls = random.chance(0.2)
        ? [{ id: "t", name: random.pick(TOOLS), argumentsJson: "{}" }]
        : [];
      if (fault === "none") this.send({ type: "replyDone", turnId, tokens, toolCalls });
      else this.send({ type: "replyFailed", turnId, retryable: fault === "fail" });
    });
  }

  #synthesize(turnId: number, index: number, text: string): void {
    const { random } = this;
    const sentences = this.asked.get(turnId) ?? new Map<number, string>();
    sentences.set(index, text);
    this.asked.set(turnId, sentences);
    const durationMs = text.length * MS_PER_CHARACTER;
    const delayMs = random.whole(30, 600);
    if (random.chance(this.#faults.speech)) {
      const fault = random.pick(["retry", "refuse", "stall"]);
      if (fault === "stall") return;
      this.#later(turnId, delayMs, () =>
        this.send({ type: "sentenceFailed", turnId, index, retryable: fault === "retry" }),
      );
      return;
    }
    this.#later(turnId, delayMs, () => {
      const firstByteAtMs = this.clock.monotonicMs();
      this.send({ type: "sentenceWhole", turnId, index, durationMs, firstByteAtMs });
    });
  }

  /** What was aborted mostly stays away; now and then it was already under way. */
  #later(turnId: number, delayMs: number, action: () => void): void {
    this.clock.after(delayMs, () => {
      if (!this.#aborted.has(turnId) || this.random.chance(this.#faults.stale)) action();
    });
  }

  #startTimer(timer: TimerName, delayMs: number): void {
    this.timers.get(timer)?.();
    const fire = () => {
      this.timers.delete(timer);
      this.send({ type: "timerFired", timer });
    };
    this.timers.set(timer, this.clock.after(delayMs, fire));
  }
}
