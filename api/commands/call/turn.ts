import type { Utterance } from "../../../engine/sandbox/caller.js";
import { hasUncodedSpeech } from "../../../engine/sandbox/telephone/tone-code.js";
import type { FrameMeasures } from "./frame-meter.js";
import type { Playback } from "./medium.js";

/**
 * `waiting`: no agent audio yet; `talking`; `finished` by itself; `stopped` by the caller; `unanswered`: the caller
 * spoke again before any audio arrived; `cutOff`: the call ended first.
 */
export type TurnOutcome = "waiting" | "talking" | "finished" | "stopped" | "unanswered" | "cutOff";

export interface TurnOptions {
  /** 0 for the greeting. */
  readonly number: number;
  readonly kind: "greeting" | "say" | "interrupt";
  readonly said: string;
  readonly playback: Playback;
}

/** The caller's text and the agent's reply, with times from the machine's monotonic clock. */
export class Turn {
  readonly number: number;
  readonly kind: TurnOptions["kind"];
  readonly said: string;
  /** The agent's text by its latest transcript. */
  transcript = "";
  /**
   * The words in the audio, as far as it was played, or the transcript if the voice is not the tone code. Undefined
   * until `listen` is done.
   */
  heard: string | undefined;
  /** From the interruption's first frame until the agent's audio stopped. */
  silencedAfterMs: number | undefined;
  /** The audio as received. */
  readonly pieces: Uint8Array[] = [];
  readonly #playback: Playback;
  #utterance: Utterance | undefined;
  #outcome: TurnOutcome = "waiting";
  #firstAudioNs: bigint | undefined;
  #overNs: bigint | undefined;

  constructor({ number, kind, said, playback }: TurnOptions) {
    this.#playback = playback;
    this.number = number;
    this.kind = kind;
    this.said = said;
  }

  get outcome(): TurnOutcome {
    return this.#outcome;
  }

  get isOver(): boolean {
    return this.#outcome !== "waiting" && this.#outcome !== "talking";
  }

  /** The caller has finished speaking, so audio from now on can be an answer. */
  get isSpoken(): boolean {
    return this.kind === "greeting" || this.#utterance !== undefined;
  }

  get hasAudio(): boolean {
    return this.#firstAudioNs !== undefined;
  }

  /** Sets `silencedAfterMs` and returns true once both the stop and the interruption's first frame are known. */
  silencedBy(interruption: Turn): boolean {
    const fromNs = interruption.#utterance?.startNs;
    if (this.#outcome !== "stopped" || this.#overNs === undefined || fromNs === undefined) {
      return false;
    }
    this.silencedAfterMs = Number(this.#overNs - fromNs) / 1e6;
    return true;
  }

  /** When the audio received so far will have been played. */
  get playbackEndsNs(): bigint | undefined {
    return this.#playback.endsNs;
  }

  /** Undefined if the audio does not arrive in frames. */
  get frames(): FrameMeasures | undefined {
    return this.#playback.frames;
  }

  get isStreamed(): boolean {
    return this.#playback.isStreamed === true;
  }

  /** How long the caller waited: from the last frame of the caller's words to the first of the reply. */
  get latencyMs(): number | undefined {
    if (this.#firstAudioNs === undefined || this.#utterance === undefined) return undefined;
    return Number(this.#firstAudioNs - this.#utterance.endNs) / 1e6;
  }

  spoke(utterance: Utterance): void {
    this.#utterance = utterance;
  }

  play(sound: Uint8Array, atNs: bigint): void {
    this.#firstAudioNs ??= atNs;
    this.#outcome = "talking";
    this.pieces.push(sound);
    this.#playback.play(sound, atNs);
  }

  end(outcome: Exclude<TurnOutcome, "waiting" | "talking">, atNs: bigint): void {
    if (this.isOver) return;
    this.#outcome = outcome;
    this.#overNs = atNs;
    if (outcome !== "finished") this.#playback.stop(atNs);
  }

  /** Decodes the audio after the turn. */
  async listen(): Promise<void> {
    const replies = await this.#playback.playedReplies(this.#overNs ?? process.hrtime.bigint());
    // A finished reply was played to its end, even if its last audio arrived after the message that it had ended.
    const parts = replies.map(({ text, playedText }) =>
      this.#outcome === "finished" ? text : playedText,
    );
    const isCode = !replies.some(({ text }) => hasUncodedSpeech(text));
    this.heard = isCode ? parts.filter((part) => part !== "").join(" ") : this.transcript;
  }
}
