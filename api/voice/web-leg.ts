import { bytesPerMs } from "../../engine/audio/audio-format.js";
import { WholeSamples } from "../../engine/audio/whole-samples.js";
import type { OpenedCall } from "../../engine/calls/call-opener.js";
import type { LiveConversation } from "../../engine/conversation/actor.js";
import { CALLER_LEFT, type Ending } from "../../engine/conversation/call-end.js";
import type {
  CallerChannel,
  ClientToolAnswer,
  ClientToolCall,
  DtmfOutcome,
  SentenceId,
} from "../../engine/conversation/caller-channel.js";
import type { ClientMessage } from "../../engine/conversation/effects.js";
import { WEB_AUDIO } from "../../engine/conversation/leg-audio.js";
import { RequestError } from "../../engine/request-error.js";
import type { VoiceErrorCode } from "../../storage/parley-error.js";
import {
  type CallerMessage,
  CallerMessageHead,
  OfferedTools,
  PlayedReport,
  ToolResult,
  WrittenWords,
} from "../contract/caller-message.js";
import { REFUSED_MESSAGE } from "../http/backend/http-backend.js";
import { JSON_DEPTH_MAX } from "../http/request/json-body.js";
import { validated } from "../http/request/validation.js";
import { STREAM_FORMATS, type StreamEncoding } from "./audio-mode.js";
import { CLOSE_CODE_BY_ENDING, closeReason, ERROR_CODE_BY_ENDING } from "./close-codes.js";
import {
  audioStartMessage,
  type CallView,
  errorMessage,
  toolCallMessage,
  voiceMessage,
} from "./voice-message.js";

/** The caller's audio before the conversation is ready; of a longer stretch, the newest part is kept. */
const PREEMPTIVE_AUDIO_BYTES_MAX = 2_000 * bytesPerMs(WEB_AUDIO.input);

/**
 * Joins the caller's frames to whole samples and keeps the newest two seconds until there is a receiver. The bytes
 * of a frame are only valid while it is accepted; `sink` copies what it keeps.
 */
export class AudioIntake {
  #sink: ((audio: Uint8Array) => void) | undefined;
  #early: Buffer[] = [];
  #earlyBytes = 0;
  readonly #wholeSamples = new WholeSamples();

  accept(frame: Uint8Array): void {
    const samples = this.#wholeSamples.take(frame);
    if (samples.byteLength === 0) return;
    if (this.#sink === undefined) this.#keep(Buffer.from(samples));
    else this.#sink(samples);
  }

  connect(sink: (audio: Uint8Array) => void): void {
    const early = this.#early;
    this.#early = [];
    this.#earlyBytes = 0;
    this.#sink = sink;
    for (const audio of early) sink(audio);
  }

  #keep(audio: Buffer): void {
    const newest = audio.subarray(Math.max(0, audio.byteLength - PREEMPTIVE_AUDIO_BYTES_MAX));
    this.#early.push(newest);
    this.#earlyBytes += newest.byteLength;
    while (this.#earlyBytes > PREEMPTIVE_AUDIO_BYTES_MAX) {
      this.#earlyBytes -= this.#early.shift()?.byteLength ?? 0;
    }
  }
}

/** Twice the largest tool result, so that an oversized result can be reported by its name. */
const MESSAGE_BYTES_MAX = 32_768;

/** A text frame of a client in stream mode. RequestError `invalid_request` names the field, and what was expected. */
export function callerMessage(message: Uint8Array): CallerMessage {
  if (message.byteLength > MESSAGE_BYTES_MAX) {
    throw new RequestError(
      "invalid_request",
      `message: expected at most ${MESSAGE_BYTES_MAX} bytes`,
    );
  }
  const body = parsed(message);
  switch (validated(CallerMessageHead, body, "message").type) {
    case "played":
      return validated(PlayedReport, body, "message");
    case "written":
      return validated(WrittenWords, body, "message");
    case "tools":
      return validated(OfferedTools, body, "message");
    case "toolResult":
      return validated(ToolResult, body, "message");
  }
}

function parsed(message: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(message).toString());
  } catch {
    return undefined;
  }
}

/** The contract's limit for one binary frame in stream mode. */
export const PIECE_MAX_MS = 100;
/**
 * While more than this is unread, audio waits here: audio in the network cannot be withdrawn when the caller
 * interrupts. The system's own buffers are enough to keep a fast connection busy.
 */
export const UNREAD_TARGET_BYTES = 16 * 1024;
/** A conversation is at most ten seconds and two of the longest sentences ahead of playback. */
export const WAITING_MAX_MS = 60_000;
/** A client may round up. */
const PLAYED_SLACK_MS = 1;

/** The connection to the client. */
export interface VoiceLine {
  sendText(message: string): void;
  sendAudio(piece: Uint8Array): void;
  unreadBytes(): number;
}

interface WaitingAudio {
  readonly turnId: number;
  readonly audio: Uint8Array;
  sentBytes: number;
}

/** The agent's audio as a stream: in pieces, as fast as the client accepts them, each turn after its `audioStart`. */
export class StreamedVoice {
  readonly #encoding: StreamEncoding;
  readonly #line: VoiceLine;
  readonly #pieceBytes: number;
  readonly #bytesPerMs: number;
  /** Audio, and messages that keep their position after it. */
  #waiting: (WaitingAudio | string)[] = [];
  #waitingBytes = 0;
  /** The turn whose audio was sent last, how much of it was sent, and how much the client has played. */
  #turnId = 0;
  /** That turn was not stopped since its `audioStart`. */
  #isGoingOn = false;
  #sentBytes = 0;
  #playedMs = 0;

  constructor(encoding: StreamEncoding, line: VoiceLine) {
    this.#encoding = encoding;
    this.#line = line;
    this.#bytesPerMs = bytesPerMs(STREAM_FORMATS[encoding]);
    this.#pieceBytes = PIECE_MAX_MS * this.#bytesPerMs;
  }

  /** Audio that the client has not accepted; next to nothing for a client that reads. */
  get waitingMs(): number {
    return this.#waitingBytes / this.#bytesPerMs;
  }

  /** Whole samples; the bytes are not changed afterwards. False beyond WAITING_MAX_MS: then they are dropped. */
  play(audio: Uint8Array, turnId: number): boolean {
    if (this.waitingMs + audio.byteLength / this.#bytesPerMs > WAITING_MAX_MS) return false;
    if (audio.byteLength === 0) return true;
    this.#waiting.push({ turnId, audio, sentBytes: 0 });
    this.#waitingBytes += audio.byteLength;
    this.sendWaiting();
    return true;
  }

  /** Sends the message after everything before it. */
  follow(message: string): void {
    this.#waiting.push(message);
    this.sendWaiting();
  }

  /** Drops the waiting audio. Later audio, even of the same turn, starts again. */
  clear(): void {
    this.#isGoingOn = false;
    this.#waiting = [];
    this.#waitingBytes = 0;
  }

  /** Call it when the client has read something. */
  sendWaiting(): void {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined) return;
      if (typeof next === "string") {
        this.#waiting.shift();
        this.#line.sendText(next);
        continue;
      }
      if (this.#line.unreadBytes() > UNREAD_TARGET_BYTES) return;
      this.#sendPiece(next);
    }
  }

  /** Why the report cannot be true, with the name of the field; undefined if it can. */
  faultIn({ turnId, ms }: PlayedReport): string | undefined {
    if (turnId > this.#turnId) return "turnId: expected the `turnId` of an `audioStart` before it";
    if (turnId < this.#turnId) return undefined;
    const sentMs = this.#sentBytes / this.#bytesPerMs;
    if (ms > sentMs + PLAYED_SLACK_MS) {
      return `ms: expected at most the ${Math.floor(sentMs)} ms that were sent of turn ${turnId}`;
    }
    if (ms < this.#playedMs) {
      return `ms: expected at least the ${this.#playedMs} ms that were reported of turn ${turnId} before`;
    }
    return undefined;
  }

  /** Takes a valid report. Returns what was played, in ms; undefined for a turn that is over or was stopped. */
  take({ turnId, ms }: PlayedReport): number | undefined {
    if (turnId !== this.#turnId || !this.#isGoingOn) return undefined;
    this.#playedMs = ms;
    return Math.min(ms, this.#sentBytes / this.#bytesPerMs);
  }

  #sendPiece(next: WaitingAudio): void {
    if (next.turnId !== this.#turnId || !this.#isGoingOn) {
      this.#turnId = next.turnId;
      this.#isGoingOn = true;
      this.#sentBytes = 0;
      this.#playedMs = 0;
      this.#line.sendText(audioStartMessage(next.turnId, this.#encoding));
    }
    const piece = next.audio.subarray(next.sentBytes, next.sentBytes + this.#pieceBytes);
    next.sentBytes += piece.byteLength;
    this.#sentBytes += piece.byteLength;
    this.#waitingBytes -= piece.byteLength;
    if (next.sentBytes === next.audio.byteLength) this.#waiting.shift();
    this.#line.sendAudio(piece);
  }
}

/** A model has at most eight running; those of an earlier turn are dropped with that turn. */
const PENDING_MAX = 16;
/** As much as the LLM reads of a service's response: some 4,000 tokens. */
const RESULT_MAX_BYTES = 16 * 1024;

const NOT_OFFERED = "the caller's page does not offer this";
const TOO_MANY = "the caller's page has too many tools running";
const TOO_LONG = `the caller's page returned more than ${RESULT_MAX_BYTES} bytes`;
/** Serializing endlessly nested values as JSON would overflow the stack. */
const TOO_DEEP = `the caller's page returned JSON nested more than ${JSON_DEPTH_MAX} deep`;

/** The tools of one call's client: which ones it offers, and which results are pending. */
export class ClientTools {
  readonly #send: (message: string) => void;
  readonly #waiting = new Map<number, (answer: ClientToolAnswer) => void>();
  #offered: ReadonlySet<string> = new Set();
  #lastId = 0;

  constructor(send: (message: string) => void) {
    this.#send = send;
  }

  /** Replaces the offered tools. */
  offer(names: readonly string[]): void {
    this.#offered = new Set(names);
  }

  /** Rejects only when aborted; the client is not notified of that, and its late result is ignored. */
  async use(call: ClientToolCall, signal: AbortSignal): Promise<ClientToolAnswer> {
    signal.throwIfAborted();
    if (!this.#offered.has(call.name)) return { error: NOT_OFFERED };
    if (this.#waiting.size >= PENDING_MAX) return { error: TOO_MANY };
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      const abort = () => {
        if (this.#waiting.delete(id)) reject(new Error("the tool call is no longer pending"));
      };
      signal.addEventListener("abort", abort, { once: true });
      this.#waiting.set(id, (answer) => {
        signal.removeEventListener("abort", abort);
        resolve(answer);
      });
      this.#send(toolCallMessage(id, call));
    });
  }

  /** Returns what is wrong with a result; a late result is not an error. */
  take({ id, result, error }: ToolResult): string | undefined {
    if (id > this.#lastId) return "id: expected that of a `toolCall`";
    const settle = this.#waiting.get(id);
    if (settle === undefined) return undefined;
    this.#waiting.delete(id);
    if (error !== undefined) settle({ error });
    else if (!isWithin(result, JSON_DEPTH_MAX)) {
      settle({ error: TOO_DEEP });
      return `result: expected JSON nested at most ${JSON_DEPTH_MAX} deep`;
    } else if (sizeBytesOf(result) > RESULT_MAX_BYTES) {
      settle({ error: TOO_LONG });
      return `result: expected at most ${RESULT_MAX_BYTES} bytes of JSON`;
    } else settle({ result });
    return undefined;
  }
}

function isWithin(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((each) => isWithin(each, depth - 1));
}

function sizeBytesOf(result: unknown): number {
  return result === undefined ? 0 : Buffer.byteLength(JSON.stringify(result));
}

/** Data that the client has not accepted; next to nothing for a client that reads. */
const UNREAD_BYTES_MAX = 1024 * 1024;
/** The contract's largest frame of caller audio. */
const FRAME_BYTES_MAX = 64 * 1024;
/** Each of them costs an LLM request: people do not type faster. */
const WRITTEN_PER_TICK_MAX = 5;
/**
 * In the 5 seconds of a tick, which may include what a network held back for a minute: 5 ms of audio in each
 * frame, or ten reports a second.
 */
const FRAMES_PER_TICK_MAX = 15_000;
const TEXTS_PER_TICK_MAX = 1_000;

/** The part of a WebSocket that a leg uses. */
export interface CallerSocket {
  send(message: string | Uint8Array, isBinary: boolean): number;
  end(code: number, reason: string): void;
  getBufferedAmount(): number;
}

const CALLER_TOO_SLOW: Ending = {
  reason: "callerTooSlow",
  status: "failed",
  message: "write buffer full: the client reads too slowly",
};
const FRAME_TOO_BIG: Ending = {
  reason: "callerProtocol",
  status: "failed",
  message: `an audio frame may have at most ${FRAME_BYTES_MAX} bytes`,
};

const TOO_MANY_FRAMES: Ending = {
  reason: "callerTooFast",
  status: "failed",
  message: `a client may send ${FRAMES_PER_TICK_MAX} frames in 5 seconds, and ${TEXTS_PER_TICK_MAX} of them text`,
};

/** The part of a conversation that a leg uses. */
export type LegSession = Pick<LiveConversation, "hear" | "played" | "write" | "end">;

/** One client on the voice WebSocket, from its upgrade to its end. */
export class WebLeg implements CallerChannel {
  readonly #socket: CallerSocket;
  readonly #intake = new AudioIntake();
  readonly #closed = new AbortController();
  readonly #tools = new ClientTools((message) => this.#write(message, false));
  /** Undefined: the client receives whole sentences. */
  readonly #voice: StreamedVoice | undefined;
  #session: LegSession | undefined;
  #callView: CallView = { agentName: "", historyKey: "" };
  #tap: OpenedCall["tap"];
  #isOpen = true;
  #silentTicks = 0;
  #writtenInTick = 0;
  #framesInTick = 0;
  #textsInTick = 0;

  /** With an encoding, the client receives the agent's audio as a stream. */
  constructor(socket: CallerSocket, encoding?: StreamEncoding) {
    this.#socket = socket;
    if (encoding === undefined) return;
    this.#voice = new StreamedVoice(encoding, {
      sendText: (message) => this.#write(message, false),
      sendAudio: (piece) => this.#writeAudio(piece),
      unreadBytes: () => (this.#isOpen ? this.#socket.getBufferedAmount() : 0),
    });
  }

  /** Aborts when the client has gone or was closed. */
  get closed(): AbortSignal {
    return this.#closed.signal;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  announce(opened: OpenedCall): void {
    const { agentName, historyKey, callId, tap } = opened;
    this.#callView = { agentName, historyKey, ...(this.#voice === undefined ? {} : { callId }) };
    this.#tap = tap;
  }

  connect(session: LegSession): void {
    this.#session = session;
    this.#intake.connect((audio) => session.hear(audio));
  }

  /** The bytes are only valid during the call. */
  receive(frame: Uint8Array): void {
    if (!this.#isOpen) return;
    this.#silentTicks = 0;
    this.#framesInTick += 1;
    if (frame.byteLength > FRAME_BYTES_MAX) this.#fail(FRAME_TOO_BIG);
    else if (this.#framesInTick > FRAMES_PER_TICK_MAX) this.#fail(TOO_MANY_FRAMES);
    else this.#intake.accept(frame);
  }

  /** A frame was too large to be read. */
  receiveTooMuch(): void {
    if (this.#isOpen) this.#fail(FRAME_TOO_BIG);
  }

  /** A text frame, which applies in stream mode only. The bytes are only valid during the call. */
  receiveText(message: Uint8Array): void {
    if (!this.#isOpen || this.#voice === undefined) return;
    this.#textsInTick += 1;
    if (this.#textsInTick > TEXTS_PER_TICK_MAX) return this.#fail(TOO_MANY_FRAMES);
    const fault = this.#takeMessage(message, this.#voice);
    if (fault !== undefined) this.#write(errorMessage("invalid_message", fault), false);
  }

  /** The client has read some of the sent data. */
  drained(): void {
    if (this.#isOpen) this.#voice?.sendWaiting();
  }

  /** The number of ticks, including this one, since the last frame or written words. */
  countSilence(): number {
    this.#writtenInTick = 0;
    this.#framesInTick = 0;
    this.#textsInTick = 0;
    this.#silentTicks += 1;
    return this.#silentTicks;
  }

  send(message: ClientMessage): void {
    const text = voiceMessage(message, this.#callView);
    // The agent has not finished until the last of its audio is sent.
    if (message.type === "audioEnd" && this.#voice !== undefined) return this.#voice.follow(text);
    if (message.type === "audioStop") this.#voice?.clear();
    this.#write(text, false);
    if (message.type === "audioStop") this.#tap?.agentCut();
  }

  sendAudio(audio: Uint8Array, { turnId }: SentenceId): void {
    if (!this.#isOpen) return;
    if (this.#voice === undefined) this.#writeAudio(audio);
    else if (!this.#voice.play(audio, turnId)) this.#fail(CALLER_TOO_SLOW);
  }

  /** A browser plays what it has: output cannot be paused. */
  pauseOutput(): void {}
  resumeAudio(): void {}

  sendDigits(): Promise<DtmfOutcome> {
    return Promise.resolve("unavailable");
  }

  transfer(): Promise<boolean> {
    return Promise.resolve(false);
  }

  useTool(call: ClientToolCall, signal: AbortSignal): Promise<ClientToolAnswer> {
    return this.#tools.use(call, signal);
  }

  end(ending: Ending): void {
    this.close(CLOSE_CODE_BY_ENDING[ending.reason], ending.message);
  }

  /** Sends the reason, then closes. */
  refuse(closeCode: number, code: VoiceErrorCode, message: string): void {
    this.#write(errorMessage(code, message), false);
    this.close(closeCode, message);
  }

  close(code: number, reason: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#voice?.clear();
    this.#socket.end(code, closeReason(reason));
    this.#closed.abort();
  }

  /** The socket is closed, by either side, for that reason: nothing can be sent any more. */
  socketClosed(reason: string): void {
    this.#isOpen = false;
    this.#voice?.clear();
    this.#closed.abort();
    this.#session?.end(reason === REFUSED_MESSAGE ? FRAME_TOO_BIG : CALLER_LEFT);
    this.#session = undefined;
  }

  endCall(ending: Ending): void {
    this.#fail(ending);
  }

  /** Passes the client's message to the call; otherwise returns what is wrong with it. */
  #takeMessage(bytes: Uint8Array, voice: StreamedVoice): string | undefined {
    try {
      const message = callerMessage(bytes);
      switch (message.type) {
        case "played":
          return this.#takeReport(message, voice);
        case "written":
          return this.#takeWritten(message.text);
        case "tools":
          this.#tools.offer(message.names);
          return undefined;
        case "toolResult":
          return this.#tools.take(message);
      }
    } catch (error) {
      if (error instanceof RequestError) return error.message;
      throw error;
    }
  }

  #takeReport(report: PlayedReport, voice: StreamedVoice): string | undefined {
    const fault = voice.faultIn(report);
    if (fault !== undefined) return fault;
    const playedMs = voice.take(report);
    if (playedMs !== undefined) this.#session?.played(report.turnId, playedMs);
    return undefined;
  }

  #takeWritten(text: string): string | undefined {
    if (this.#session === undefined) return "written: expected after `connected`";
    if (this.#writtenInTick >= WRITTEN_PER_TICK_MAX) {
      return `written: expected at most ${WRITTEN_PER_TICK_MAX} in 5 seconds`;
    }
    this.#writtenInTick += 1;
    this.#silentTicks = 0;
    this.#session.write(text);
    return undefined;
  }

  #writeAudio(audio: Uint8Array): void {
    if (audio.byteLength === 0) return;
    this.#write(audio, true);
    this.#tap?.agent(audio);
  }

  #write(message: string | Uint8Array, isBinary: boolean): void {
    if (!this.#isOpen) return;
    this.#socket.send(message, isBinary);
    if (this.#socket.getBufferedAmount() > UNREAD_BYTES_MAX) this.#fail(CALLER_TOO_SLOW);
  }

  #fail(ending: Ending): void {
    if (this.#session !== undefined) this.#session.end(ending);
    else
      this.refuse(
        CLOSE_CODE_BY_ENDING[ending.reason],
        ERROR_CODE_BY_ENDING[ending.reason],
        ending.message,
      );
  }
}
