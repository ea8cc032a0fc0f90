import type { Socket } from "node:net";
import { AudioSocketWire } from "../../engine/telephony/asterisk/audio-socket-wire.js";
import type { PhoneWire, StreamStarted, WireFrame } from "../../engine/telephony/phone-wire.js";
import type { CancelTimer, Clock } from "../../engine/time/clock.js";
import type { LegSocket, PhoneLeg } from "./phone-leg.js";

/** Asterisk says the UUID as soon as it is connected. */
export const UUID_MAX_MS = 10_000;
/** What Asterisk may take to read the last frames and close its side. */
export const CLOSE_MAX_MS = 2_000;
/** The kind of the first frame of every connection. */
const UUID_KIND = 0x01;

export interface AudioSocketCallerOptions {
  readonly socket: Socket;
  /** The connection has said its UUID; the leg takes what follows. */
  readonly begin: (socket: LegSocket, wire: PhoneWire, started: StreamStarted) => PhoneLeg;
  /** Why a connection that never became a call was closed. */
  readonly onRefused: (reason: string) => void;
  readonly clock: Clock;
}

/** One TCP connection of Asterisk's AudioSocket, from its first byte to its end. */
export class AudioSocketCaller implements LegSocket {
  readonly #options: AudioSocketCallerOptions;
  readonly #socket: Socket;
  readonly #wire = new AudioSocketWire();
  #leg: PhoneLeg | undefined;
  #cancelTimer: CancelTimer;
  #hasSpoken = false;
  #isEnding = false;
  #silentTicks = 0;

  constructor(options: AudioSocketCallerOptions) {
    this.#options = options;
    this.#socket = options.socket;
    this.#cancelTimer = options.clock.after(UUID_MAX_MS, () => this.#refuse("it named no call"));
    const { socket } = options;
    socket.on("data", (bytes) => this.#take(bytes));
    socket.on("end", () => socket.destroy());
    // A `close` follows, and is all that counts.
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#closed());
  }

  send(frame: WireFrame): void {
    if (!this.#isEnding && typeof frame !== "string") this.#socket.write(frame);
  }

  getBufferedAmount(): number {
    return this.#socket.writableLength;
  }

  /** What was sent before still arrives, if Asterisk reads it. There are no codes and no reasons on this wire. */
  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#cancelTimer();
    this.#cancelTimer = this.#options.clock.after(CLOSE_MAX_MS, () => this.#socket.destroy());
    this.#socket.end();
  }

  /** How many ticks, this one included, have passed since the last byte. */
  countSilence(): number {
    this.#silentTicks += 1;
    return this.#silentTicks;
  }

  drop(): void {
    this.#socket.destroy();
  }

  #take(bytes: Buffer): void {
    if (this.#isEnding) return;
    this.#silentTicks = 0;
    if (!this.#hasSpoken && bytes[0] !== UUID_KIND) return this.#refuse("it is not AudioSocket");
    this.#hasSpoken = true;
    for (const event of this.#wire.fromWire(bytes)) {
      if (event.type === "started") {
        this.#cancelTimer();
        this.#leg = this.#options.begin(this, this.#wire, event);
      } else if (this.#leg !== undefined) this.#leg.take(event);
      else return this.#refuse("it did not begin with a UUID");
    }
  }

  #refuse(reason: string): void {
    if (this.#isEnding) return;
    this.#options.onRefused(reason);
    this.end();
  }

  #closed(): void {
    this.#isEnding = true;
    this.#cancelTimer();
    this.#leg?.socketClosed();
  }
}
