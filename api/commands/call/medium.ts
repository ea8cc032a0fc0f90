import type { Utterance } from "../../../engine/sandbox/caller.js";
import type { Received } from "../../../engine/sandbox/caller-events.js";
import { Loudspeaker } from "../../../engine/sandbox/sound/loudspeaker.js";
import type { FrameMeasures } from "./frame-meter.js";

/** The caller's side of one call, on the web or on the telephone. */
export interface VoiceCall {
  /** The key with which a later call continues this one; undefined or empty if the service sends none. */
  readonly historyKey: string | undefined;
  say(text: string): Promise<Utterance>;
  /** Speaks at once; the promises of utterances that it cuts off reject. */
  interrupt(text: string): Promise<Utterance>;
  /** See AwaitedEvents.until. */
  until(predicate: (event: Received) => boolean, timeoutMs?: number): Promise<Received>;
  /** Resolves when the connection is closed. */
  hangUp(): Promise<void>;
}

/**
 * Computes the playback of one reply in real time. Nothing is played aloud, but the text that the caller would have
 * heard is known.
 */
export interface Playback {
  /** When the audio received so far will have been played. Undefined if none has arrived. */
  readonly endsNs: bigint | undefined;
  /** The measurements of the frames. Undefined if the audio does not arrive in frames. */
  readonly frames?: FrameMeasures;
  /** True if the audio arrives in chunks, which have no text of their own. */
  readonly isStreamed?: boolean;
  play(sound: Uint8Array, atNs: bigint): void;
  /** Stops playback at once and discards audio that is still queued. */
  stop(atNs: bigint): void;
  playedReplies(
    atNs: bigint,
  ): Promise<readonly { readonly text: string; readonly playedText: string }[]>;
}

/** The differences between a call on the web and one on the telephone. */
export interface Medium {
  newPlayback(): Playback;
  /** Whether every chunk of audio is shown, or only the first of a reply. */
  readonly reportsEveryChunk: boolean;
  /** False if transcripts arrive outside the call, at no fixed time relative to its audio. */
  readonly showsTranscripts: boolean;
  /** Some agents have no greeting: the caller then speaks after this much silence. */
  readonly greetingWaitMs: number;
  /**
   * A reply needs at least this much unplayed audio to be interrupted reliably. Negative if audio may be late by that
   * much.
   */
  readonly minRemainingMs: number;
  /** Builds the file that `--save` writes from the chunks of each reply. */
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
