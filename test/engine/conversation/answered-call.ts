import assert from "node:assert/strict";
import type { ConversationSettings, Turn } from "../../../engine/conversation/state.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

/** The voice takes this long per character. */
const VOICE_MS_PER_CHAR = 100;

/** A recorded call whose model and voice a test plays, always for the turn that is under way. */
export class AnsweredCall extends RecordedCall {
  constructor(settings: Partial<ConversationSettings> = {}) {
    super({ ...PLAIN_SETTINGS, ...settings }, [], VOICE_MS_PER_CHAR);
  }

  get activeTurn(): Turn {
    const { turn } = this;
    assert.ok(turn !== undefined, "no turn is under way");
    return turn;
  }

  /** The caller is connected, and has asked a question. */
  ask(text = "hello"): this {
    if (this.actor.state.phase === "opening") this.send({ type: "opened", resumed: true });
    this.send({ type: "written", text });
    this.takeLines();
    return this;
  }

  token(text: string): this {
    this.send({ type: "replyToken", turnId: this.activeTurn.id, text });
    return this;
  }

  done(tokens = 5): this {
    this.send({ type: "replyDone", turnId: this.activeTurn.id, tokens });
    return this;
  }

  reply(text: string): this {
    return this.token(text).done();
  }

  useTools(...names: readonly string[]): this {
    const toolCalls = names.map((name) => ({ id: name, name, argumentsJson: "{}" }));
    this.send({ type: "replyDone", turnId: this.activeTurn.id, tokens: 5, toolCalls });
    return this;
  }

  fail(retryable = true): this {
    this.send({ type: "replyFailed", turnId: this.activeTurn.id, retryable });
    return this;
  }

  grew(index: number, durationMs: number): this {
    return this.#sound("sentenceGrew", index, durationMs);
  }

  whole(index: number, durationMs: number): this {
    return this.#sound("sentenceWhole", index, durationMs);
  }

  mute(index: number, retryable = true): this {
    this.send({ type: "sentenceFailed", turnId: this.activeTurn.id, index, retryable });
    return this;
  }

  fire(
    name: "turnStall" | "playbackEnd" | "underrun" | "synthesisAhead",
    voiceAgoMs?: number,
  ): this {
    this.reach(name, { voiceAgoMs });
    return this;
  }

  wait(ms: number): this {
    this.clock.advance(ms);
    return this;
  }

  /** The lines since the last look that begin so. */
  linesOf(beginning: string): readonly string[] {
    return this.takeLines().filter((line) => line.startsWith(beginning));
  }

  #sound(type: "sentenceGrew" | "sentenceWhole", index: number, durationMs: number): this {
    const firstByteAtMs = this.clock.monotonicMs();
    this.send({ type, turnId: this.activeTurn.id, index, durationMs, firstByteAtMs });
    return this;
  }
}
