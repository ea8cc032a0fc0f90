import type { OpenedCall } from "../../engine/calls/opening/call-opener.js";
import { CALLER_LEFT, type Ending } from "../../engine/conversation/call-end.js";
import type {
  CallerChannel,
  ClientToolAnswer,
  ClientToolCall,
  KeysOutcome,
  SentenceId,
} from "../../engine/conversation/caller-channel.js";
import type { ClientMessage } from "../../engine/conversation/effects.js";
import type { Session } from "../../engine/conversation/session.js";
import { Failure } from "../../engine/failure.js";
import type { PlayedReport } from "../contract/caller-message.js";
import { REFUSED_MESSAGE } from "../http/backend/http-backend.js";
import { AudioIntake } from "./audio-intake.js";
import type { StreamEncoding } from "./audio-mode.js";
import { callerMessage } from "./caller-message.js";
import { ClientTools } from "./client-tools.js";
import { CLOSE_CODE_BY_ENDING, closeReason } from "./close-codes.js";
import { StreamedVoice } from "./streamed-voice.js";
import { errorMessage, type ToldCall, voiceMessage } from "./voice-message.js";

/** Not yet taken by the client's network; a client that reads has next to nothing here. */
const UNREAD_BYTES_MAX = 1024 * 1024;
/** The contract's largest frame of caller audio. */
const FRAME_BYTES_MAX = 64 * 1024;
/** Each of them asks the model: nobody writes faster by hand. */
const WRITTEN_PER_TICK_MAX = 5;
/** In the 5 seconds of a tick, which may bring what a network kept for a minute: 5 ms of audio in each frame, or ten reports a second. */
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
  message: "the client does not read what it is sent",
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

/** The part of a session that a leg uses. */
export type LegSession = Pick<Session, "hear" | "played" | "write" | "end">;

/** One client on the voice WebSocket, from its upgrade to its end. */
export class WebLeg implements CallerChannel {
  readonly #socket: CallerSocket;
  readonly #intake = new AudioIntake();
  readonly #gone = new AbortController();
  readonly #tools = new ClientTools((message) => this.#write(message, false));
  /** Undefined: the client is sent whole sentences. */
  readonly #voice: StreamedVoice | undefined;
  #session: LegSession | undefined;
  #told: ToldCall = { agentName: "", historyKey: "" };
  #tap: OpenedCall["tap"];
  #isOpen = true;
  #silentTicks = 0;
  #writtenInTick = 0;
  #framesInTick = 0;
  #textsInTick = 0;

  /** With an encoding, the client is streamed the agent's voice. */
  constructor(socket: CallerSocket, encoding?: StreamEncoding) {
    this.#socket = socket;
    if (encoding === undefined) return;
    this.#voice = new StreamedVoice(encoding, {
      sendText: (message) => this.#write(message, false),
      sendAudio: (piece) => this.#writeAudio(piece),
      unreadBytes: () => (this.#isOpen ? this.#socket.getBufferedAmount() : 0),
    });
  }

  /** Aborted when the client has gone or was closed. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  announce(opened: OpenedCall): void {
    const { agentName, historyKey, callId, tap } = opened;
    this.#told = { agentName, historyKey, ...(this.#voice === undefined ? {} : { callId }) };
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

  /** A frame was too large to be taken in at all. */
  receiveTooMuch(): void {
    if (this.#isOpen) this.#fail(FRAME_TOO_BIG);
  }

  /** A text frame, which means something in the stream mode only. The bytes are only valid during the call. */
  receiveText(message: Uint8Array): void {
    if (!this.#isOpen || this.#voice === undefined) return;
    this.#textsInTick += 1;
    if (this.#textsInTick > TEXTS_PER_TICK_MAX) return this.#fail(TOO_MANY_FRAMES);
    const fault = this.#takeMessage(message, this.#voice);
    if (fault !== undefined) this.#write(errorMessage(fault), false);
  }

  /** The client has taken some of what it was sent. */
  drained(): void {
    if (this.#isOpen) this.#voice?.sendWaiting();
  }

  /** How many ticks, this one included, have passed since the last frame or written words. */
  countSilence(): number {
    this.#writtenInTick = 0;
    this.#framesInTick = 0;
    this.#textsInTick = 0;
    this.#silentTicks += 1;
    return this.#silentTicks;
  }

  send(message: ClientMessage): void {
    const text = voiceMessage(message, this.#told);
    // The agent has not finished before the last of its audio has left.
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

  /** A browser plays what it has: nothing can be held back. */
  holdAudio(): void {}
  resumeAudio(): void {}

  sendDigits(): Promise<KeysOutcome> {
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

  /** Says why, then closes. */
  refuse(code: number, message: string): void {
    this.#write(errorMessage(message), false);
    this.close(code, message);
  }

  close(code: number, reason: string): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.#voice?.clear();
    this.#socket.end(code, closeReason(reason));
    this.#gone.abort();
  }

  /** The socket is closed, by whichever side and for that reason: nothing can be sent any more. */
  socketClosed(reason: string): void {
    this.#isOpen = false;
    this.#voice?.clear();
    this.#gone.abort();
    this.#session?.end(reason === REFUSED_MESSAGE ? FRAME_TOO_BIG : CALLER_LEFT);
    this.#session = undefined;
  }

  endCall(ending: Ending): void {
    this.#fail(ending);
  }

  /** Gives the session what the client tells; otherwise answers what is wrong with it. */
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
      if (error instanceof Failure) return error.message;
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
    else this.refuse(CLOSE_CODE_BY_ENDING[ending.reason], ending.message);
  }
}
