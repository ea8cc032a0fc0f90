import type { Utterance } from "../../../engine/sandbox/caller.js";
import { hasUncodedSpeech } from "../../../engine/sandbox/telephone/tone-code.js";
import type { FrameMeasures } from "./frame-meter.js";
import type { Playback } from "./medium.js";

/**
 * `waiting` for the agent's first sound, then `talking`; `finished` by itself, `stopped` by the caller, `unanswered` when
 * the caller went on before any sound came, `cutOff` when the call ended meanwhile.
 */
export type TurnOutcome = "waiting" | "talking" | "finished" | "stopped" | "unanswered" | "cutOff";

export interface TurnOptions {
  /** 0 is the greeting. */
  readonly number: number;
  readonly kind: "greeting" | "say" | "interrupt";
  readonly said: string;
  readonly playback: Playback;
}

/** What the caller said and what came back, with times on the machine's monotonic clock. */
export class Turn {
  readonly number: number;
  readonly kind: TurnOptions["kind"];
  readonly said: string;
  /** What the agent says that it said: its latest transcript. */
  transcript = "";
  /**
   * The words that were in the sound, as far as it was played, or the transcript where the voice is not the tone code;
   * undefined until `listen` is done.
   */
  heard: string | undefined;
  /** From the interruption's first frame until the agent fell silent. */
  silencedAfterMs: number | undefined;
  /** The sound as it came. */
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

  /** The caller has finished speaking, so that sound from now on can be an answer. */
  get isSpoken(): boolean {
    return this.kind === "greeting" || this.#utterance !== undefined;
  }

  get hasAudio(): boolean {
    return this.#firstAudioNs !== undefined;
  }

  /** Sets `silencedAfterMs`, and is true, once both the stop and the interruption's first frame are known. */
  silencedBy(interruption: Turn): boolean {
    const fromNs = interruption.#utterance?.startNs;
    if (this.#outcome !== "stopped" || this.#overNs === undefined || fromNs === undefined) {
      return false;
    }
    this.silencedAfterMs = Number(this.#overNs - fromNs) / 1e6;
    return true;
  }

  /** When the sound that has come until now will have been played. */
  get playbackEndsNs(): bigint | undefined {
    return this.#playback.endsNs;
  }

  /** Undefined where sound does not come in frames. */
  get frames(): FrameMeasures | undefined {
    return this.#playback.frames;
  }

  get isStreamed(): boolean {
    return this.#playback.isStreamed === true;
  }

  /** What the caller waited: from the last frame of the own words to the first of the reply. */
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

  /** Decodes the sound, once the turn is over. */
  async listen(): Promise<void> {
    const replies = await this.#playback.playedReplies(this.#overNs ?? process.hrtime.bigint());
    // A finished reply was played to its end, even if its last sound and the news of its end crossed.
    const parts = replies.map(({ text, playedText }) =>
      this.#outcome === "finished" ? text : playedText,
    );
    const isCode = !replies.some(({ text }) => hasUncodedSpeech(text));
    this.heard = isCode ? parts.filter((part) => part !== "").join(" ") : this.transcript;
  }
}
