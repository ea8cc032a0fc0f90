import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import type { Logger } from "../../engine/log.js";
import type { StreamUuidRegistry } from "../../engine/security/stream-uuid.js";
import { AudioSocketWire } from "../../engine/telephony/asterisk/audio-socket-wire.js";
import type { PhoneWire, StreamStarted, WireFrame } from "../../engine/telephony/phone-wire.js";
import type { CancelTimer, Clock } from "../../engine/time/clock.js";
import { within } from "../../engine/time/deadline.js";
import type { PhoneCalls } from "./phone-calls.js";
import type { LegSocket, PhoneLeg } from "./phone-leg.js";

/** Asterisk sends the UUID as soon as it is connected. */
export const UUID_MAX_MS = 10_000;
/** How long Asterisk may take to read the last frames and close its side. */
export const CLOSE_MAX_MS = 2_000;
/** The kind of the first frame of every connection. */
const UUID_KIND = 0x01;

export interface AudioSocketCallerOptions {
  readonly socket: Socket;
  /** The connection has sent its UUID; the leg takes what follows. */
  readonly startLeg: (socket: LegSocket, wire: PhoneWire, started: StreamStarted) => PhoneLeg;
  /** Why a connection that did not become a call was closed. */
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
  #hasSentLately = false;
  #silentTicks = 0;

  constructor(options: AudioSocketCallerOptions) {
    this.#options = options;
    this.#socket = options.socket;
    this.#cancelTimer = options.clock.after(UUID_MAX_MS, () => this.#refuse("it named no call"));
    const { socket } = options;
    socket.on("data", (bytes) => this.#take(bytes));
    socket.on("end", () => socket.destroy());
    // A `close` follows, and only that counts.
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#closed());
  }

  send(frame: WireFrame): void {
    if (this.#isEnding || typeof frame === "string") return;
    this.#hasSentLately = true;
    this.#socket.write(frame);
  }

  /** Sends a frame of silence if nothing was sent since it was called last, and the call has begun. */
  keepAlive(): void {
    const isQuiet = !this.#hasSentLately;
    this.#hasSentLately = false;
    if (!isQuiet || this.#isEnding || this.getBufferedAmount() > 0) return;
    const silence = new Uint8Array(this.#wire.frameBytes);
    for (const frame of this.#wire.audio(silence)) this.#socket.write(frame);
  }

  getBufferedAmount(): number {
    return this.#socket.writableLength;
  }

  /** Data that was sent before still arrives, if Asterisk reads it. This protocol has no codes and no reasons. */
  end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    this.#cancelTimer();
    this.#cancelTimer = this.#options.clock.after(CLOSE_MAX_MS, () => this.#socket.destroy());
    this.#socket.end();
  }

  /** The number of ticks, including this one, since the last byte. */
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
        this.#leg = this.#options.startLeg(this, this.#wire, event);
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

/** More than a server's calls; a connection that has not sent its UUID counts too. */
const CONNECTIONS_MAX = 2_000;
const SILENCE_TICK_MS = 5_000;
/** Asterisk ends a connection over which nothing has come or gone for two seconds, as while the caller's telephone is silent on hold. */
export const KEEP_ALIVE_MS = 500;
/** Asterisk sends fifty frames a second, also in silence: after a minute without one, its machine is gone. */
const SILENT_TICKS_MAX = 12;
export const AUDIO_SOCKET = "audiosocket";

export interface AudioSocketRouteOptions {
  readonly host: string;
  readonly port: number;
  readonly phoneCalls: Pick<PhoneCalls, "startLeg">;
  readonly streamUuids: Pick<StreamUuidRegistry, "redeem">;
  readonly connectionsMax?: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A TCP port for calls of Asterisk's AudioSocket. Each begins with a UUID from the webhook's response. */
export class AudioSocketRoute {
  readonly #options: AudioSocketRouteOptions;
  readonly #server: Server;
  readonly #callers = new Set<AudioSocketCaller>();
  readonly #timers: readonly CancelTimer[];
  #isFull = false;

  /** Rejects if the port is unavailable. */
  static async open(options: AudioSocketRouteOptions): Promise<AudioSocketRoute> {
    const server = createServer({ noDelay: true });
    server.maxConnections = options.connectionsMax ?? CONNECTIONS_MAX;
    server.listen(options.port, options.host);
    await once(server, "listening");
    return new AudioSocketRoute(options, server);
  }

  private constructor(options: AudioSocketRouteOptions, server: Server) {
    this.#options = options;
    this.#server = server;
    server.on("connection", (socket) => this.#connected(socket));
    server.on("drop", () => this.#dropped());
    server.on("error", (error) => {
      options.log.error({ error }, "AudioSocket connections cannot be taken");
    });
    const { clock } = options;
    this.#timers = [
      clock.every(SILENCE_TICK_MS, () => this.#tick()),
      clock.every(KEEP_ALIVE_MS, () => this.#keepAlive()),
    ];
  }

  /** Call it when the calls have been told to end: their last frames are still sent, with a short time limit. */
  async close(): Promise<void> {
    for (const cancel of this.#timers) cancel();
    const closed = once(this.#server, "close");
    this.#server.close();
    for (const caller of this.#callers) caller.end();
    if (await within(this.#options.clock, CLOSE_MAX_MS, closed)) return;
    for (const caller of this.#callers) caller.drop();
    await closed;
  }

  #connected(socket: Socket): void {
    this.#isFull = false;
    const { phoneCalls, streamUuids, clock, log } = this.#options;
    const caller = new AudioSocketCaller({
      socket,
      startLeg: (phone, wire, started) => {
        const redeem = async () => {
          const claims = await streamUuids.redeem(started.streamId);
          if (claims === undefined) {
            log.warn({ refusal: "unknown" }, "refused an AudioSocket call: request its UUID first");
          }
          return claims;
        };
        return phoneCalls.startLeg({ vendor: AUDIO_SOCKET, socket: phone, wire, started, redeem });
      },
      onRefused: (reason) => log.warn({ reason }, "an AudioSocket connection was closed"),
      clock,
    });
    this.#callers.add(caller);
    socket.on("close", () => this.#callers.delete(caller));
  }

  /** Logged once, until there is room again: a flood of connections does not flood the log. */
  #dropped(): void {
    if (this.#isFull) return;
    this.#isFull = true;
    const connections = this.#callers.size;
    this.#options.log.warn({ connections }, "there are too many AudioSocket connections");
  }

  #keepAlive(): void {
    for (const caller of this.#callers) caller.keepAlive();
  }

  #tick(): void {
    for (const caller of this.#callers) {
      if (caller.countSilence() < SILENT_TICKS_MAX) continue;
      this.#options.log.warn({}, "an AudioSocket connection timed out; its call ends");
      caller.drop();
    }
  }
}
