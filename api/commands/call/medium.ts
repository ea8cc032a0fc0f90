import type { Utterance } from "../../../engine/sandbox/caller.js";
import type { Received } from "../../../engine/sandbox/caller-events.js";
import { Loudspeaker } from "../../../engine/sandbox/sound/loudspeaker.js";
import type { FrameMeasures } from "./frame-meter.js";

/** A caller's side of one call, on the web or on the telephone. */
export interface VoiceCall {
  /** The key that lets a later call continue this one; undefined or empty where the service tells none. */
  readonly historyKey: string | undefined;
  say(text: string): Promise<Utterance>;
  /** Speaks at once; the promises of what is cut off are rejected. */
  interrupt(text: string): Promise<Utterance>;
  /** See AwaitedEvents.until. */
  until(predicate: (event: Received) => boolean, timeoutMs?: number): Promise<Received>;
  /** Resolves when the connection is closed. */
  hangUp(): Promise<void>;
}

/** Plays one reply in real time, on paper: nothing sounds, but it is known what would have been heard. */
export interface Playback {
  /** When what has come until now will have been played; undefined when nothing has come. */
  readonly endsNs: bigint | undefined;
  /** The measures of the frames; undefined where sound does not come in frames. */
  readonly frames?: FrameMeasures;
  /** Sound comes in pieces that say nothing by themselves. */
  readonly isStreamed?: boolean;
  play(sound: Uint8Array, atNs: bigint): void;
  /** Silence at once; what waited is thrown away. */
  stop(atNs: bigint): void;
  playedReplies(
    atNs: bigint,
  ): Promise<readonly { readonly text: string; readonly playedText: string }[]>;
}

/** What differs between a call on the web and one on the telephone. */
export interface Medium {
  newPlayback(): Playback;
  /** Whether every piece of sound is shown, or only the first of a reply. */
  readonly reportsEveryChunk: boolean;
  /** False where the transcript comes beside the call, at no certain moment of it. */
  readonly showsTranscripts: boolean;
  /** Some agents have no greeting: the caller speaks after this silence. */
  readonly greetingWaitMs: number;
  /** So much of a reply must be left for it to be interrupted for sure; below 0 where its sound may be so late. */
  readonly minRemainingMs: number;
  /** What `--save` writes: the pieces of each reply. */
  fileOf(replies: readonly (readonly Uint8Array[])[]): Uint8Array;
}

export const WEB: Medium = {
  newPlayback: () => new Loudspeaker(),
  reportsEveryChunk: true,
  showsTranscripts: true,
  greetingWaitMs: 10_000,
  minRemainingMs: 300,
  fileOf: (replies) => Buffer.concat(replies.flat()),
};
