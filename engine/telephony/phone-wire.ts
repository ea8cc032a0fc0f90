/**
 * What every phone vendor's media stream has in common. A wire is one call's: it turns frames into events and wishes into
 * frames, knows no socket and no clock, and never throws because of what a vendor sends.
 */

import type { RawFormat } from "../audio/audio-format.js";
import type { StreamFormat } from "./phone-format.js";

/** Fixed texts, so that a log or a metric of them holds nothing of what a caller or a vendor sent. */
export type IgnoredReason =
  | "binary frame"
  | "frame too large"
  | "unreadable message"
  | "vendor error"
  | "before the start"
  | "second start"
  | "after the end"
  | "audio is not base64"
  | "audio is empty"
  | "audio is late"
  | "audio of another rate"
  | "audio of another track"
  | "unknown mark"
  | "not a digit"
  | "unknown frame kind";

/** Which organization and agent a stream is for stands in `parameters`, where our document put it. */
export interface StreamIds {
  readonly streamId: string;
  /** The vendor's id of the call; empty where the vendor tells none. */
  readonly callId: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** The stream is open; the format is that of the caller's audio. */
export interface StreamStarted extends StreamFormat, StreamIds {
  readonly type: "started";
}

/** The stream is open, and its audio cannot be decoded here: nothing of it follows. */
export interface StreamUnsupported extends StreamIds {
  readonly type: "unsupported";
  /** Short plain text. */
  readonly format: string;
}

export interface CallerAudio {
  readonly type: "audio";
  /** Whole samples, at least one. Good until the wire's next `fromWire`: copy what is to last longer. */
  readonly bytes: Uint8Array;
  /** The vendor's number of this piece; a jump tells how many pieces were lost. */
  readonly sequence: number | undefined;
}

export type PhoneEvent =
  | StreamStarted
  | StreamUnsupported
  | CallerAudio
  | { readonly type: "digit"; readonly digit: string }
  /** Playback came to the mark; `heard` is false when a `clear` may have brought it there. */
  | { readonly type: "markReached"; readonly name: string; readonly wasPlayed: boolean }
  | { readonly type: "cleared" }
  /** The vendor asks to stop sending audio (`isOpen` false) until it asks to go on. */
  | { readonly type: "flow"; readonly isOpen: boolean }
  /** Nothing follows. Told at most once; a socket that closes without it ends the call as well. */
  | { readonly type: "ended" }
  | { readonly type: "ignored"; readonly reason: IgnoredReason };

/** A text frame when it is a string, a binary frame (or bytes of a TCP stream) otherwise. */
export type WireFrame = string | Uint8Array;

export interface PhoneTraits {
  /** Whoever sends must keep the time himself: the vendor plays what it gets when it gets it, or drops it. */
  readonly needsPacing: boolean;
  /** The vendor may deliver audio in the wrong order; the wire puts it right, with up to 100 ms of delay. */
  readonly reorders: boolean;
  /** Marks that a `clear` overtakes may never be reported, so nothing may wait for them. */
  readonly clearDropsMarks: boolean;
  /** Closing the socket ends the call; elsewhere the vendor's REST API has to. */
  readonly closingHangsUp: boolean;
}

export interface PhoneWire extends PhoneTraits {
  /** The format of the caller's audio, decoded where it has a codec; before `started`, what our document asks for. */
  readonly inbound: RawFormat;
  /** The format of the agent's audio: what our document asked for where the vendor takes that, else the caller's. */
  readonly outbound: RawFormat;
  /** The size of every outgoing piece of audio, where the vendor wants one; settled at `started`. */
  readonly frameBytes: number | undefined;
  /** For TCP, any piece of the stream; `isBinary` is then without meaning. */
  fromWire(frame: Buffer, isBinary: boolean): readonly PhoneEvent[];
  /** Nothing before `started`. Audio that does not fill the vendor's frames is filled up with silence. */
  audio(bytes: Uint8Array): readonly WireFrame[];
  /** Throws a RangeError for a name that is not 1 to 64 letters, digits or `_.:-`. Empty where there are no marks. */
  mark(name: string): readonly WireFrame[];
  /** Drops what the vendor has not played yet; empty where that is not possible. */
  clear(): readonly WireFrame[];
  /** What to send before the socket is closed. */
  hangUp(): readonly WireFrame[];
}

export function ignored(reason: IgnoredReason): readonly PhoneEvent[] {
  return [{ type: "ignored", reason }];
}
