import type { OpenedCall } from "../../engine/calls/call-opener.js";
import type { CallerChannel } from "../../engine/session/caller-channel.js";
import type { ClientMessage } from "../../engine/session/effects.js";
import { CALLER_LEFT, type Ending } from "../../engine/session/ending.js";
import type { Session } from "../../engine/session/session.js";
import { REFUSED_MESSAGE } from "../http/front.js";
import { AudioIntake } from "./audio-intake.js";
import { CLOSE_CODE_BY_ENDING, closeReason } from "./close-codes.js";
import { errorMessage, voiceMessage } from "./voice-message.js";

/** Not yet taken by the client's network; a client that reads has next to nothing here. */
const UNREAD_BYTES_MAX = 1024 * 1024;
/** The contract's largest frame of caller audio. */
const FRAME_BYTES_MAX = 64 * 1024;

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

/** The part of a session that a leg uses. */
export type LegSession = Pick<Session, "hear" | "end">;

/** One client on the voice WebSocket, from its upgrade to its end. */
export class WebLeg implements CallerChannel {
  readonly #socket: CallerSocket;
  readonly #intake = new AudioIntake();
  readonly #gone = new AbortController();
  #session: LegSession | undefined;
  #opened: OpenedCall = { agentName: "", historyKey: "" };
  #isOpen = true;
  #silentTicks = 0;

  constructor(socket: CallerSocket) {
    this.#socket = socket;
  }

  /** Aborted when the client has gone or was closed. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  announce(opened: OpenedCall): void {
    this.#opened = opened;
  }

  connect(session: LegSession): void {
    this.#session = session;
    this.#intake.connect((audio) => session.hear(audio));
  }

  /** The bytes are only valid during the call. */
  receive(frame: Uint8Array): void {
    if (!this.#isOpen) return;
    this.#silentTicks = 0;
    if (frame.byteLength > FRAME_BYTES_MAX) this.#fail(FRAME_TOO_BIG);
    else this.#intake.accept(frame);
  }

  /** How many ticks, this one included, have passed since the last frame. */
  countSilence(): number {
    this.#silentTicks += 1;
    return this.#silentTicks;
  }

  send(message: ClientMessage): void {
    this.#write(voiceMessage(message, this.#opened), false);
    if (message.type === "audioStop") this.#opened.tap?.agentCut();
  }

  sendAudio(audio: Uint8Array): void {
    if (audio.byteLength === 0) return;
    this.#write(audio, true);
    this.#opened.tap?.agent(audio);
  }

  /** A browser plays what it has: nothing can be held back. */
  holdAudio(): void {}
  resumeAudio(): void {}

  sendDigits(): boolean {
    return false;
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
    this.#socket.end(code, closeReason(reason));
    this.#gone.abort();
  }

  /** The socket is closed, by whichever side and for that reason: nothing can be sent any more. */
  socketClosed(reason: string): void {
    this.#isOpen = false;
    this.#gone.abort();
    this.#session?.end(reason === REFUSED_MESSAGE ? FRAME_TOO_BIG : CALLER_LEFT);
    this.#session = undefined;
  }

  endCall(ending: Ending): void {
    this.#fail(ending);
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
