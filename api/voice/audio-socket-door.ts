import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import type { Logger } from "../../engine/log.js";
import type { StreamUuidDesk } from "../../engine/security/stream-uuid.js";
import type { CancelTimer, Clock } from "../../engine/time/clock.js";
import { within } from "../../engine/time/deadline.js";
import { AudioSocketCaller, CLOSE_MAX_MS } from "./audio-socket-caller.js";
import type { PhoneCalls } from "./phone-calls.js";

/** More than a server carries calls; a connection that has not said its UUID counts too. */
const CONNECTIONS_MAX = 2_000;
const SILENCE_TICK_MS = 5_000;
/** Asterisk sends fifty frames a second, in silence too: a minute without one, and its machine is gone. */
const SILENT_TICKS_MAX = 12;
export const AUDIO_SOCKET = "audiosocket";

export interface AudioSocketDoorOptions {
  readonly host: string;
  readonly port: number;
  readonly phoneCalls: Pick<PhoneCalls, "begin">;
  readonly streamUuids: Pick<StreamUuidDesk, "redeem">;
  readonly connectionsMax?: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** A TCP port for calls of Asterisk's AudioSocket. Each begins with a UUID that the webhook has given out. */
export class AudioSocketDoor {
  readonly #options: AudioSocketDoorOptions;
  readonly #server: Server;
  readonly #callers = new Set<AudioSocketCaller>();
  readonly #stopTicking: CancelTimer;
  #isFull = false;

  /** Rejects when the port cannot be had. */
  static async open(options: AudioSocketDoorOptions): Promise<AudioSocketDoor> {
    const server = createServer({ noDelay: true });
    server.maxConnections = options.connectionsMax ?? CONNECTIONS_MAX;
    server.listen(options.port, options.host);
    await once(server, "listening");
    return new AudioSocketDoor(options, server);
  }

  private constructor(options: AudioSocketDoorOptions, server: Server) {
    this.#options = options;
    this.#server = server;
    server.on("connection", (socket) => this.#connected(socket));
    server.on("drop", () => this.#dropped());
    server.on("error", (error) => {
      options.log.error({ error }, "AudioSocket connections cannot be taken");
    });
    this.#stopTicking = options.clock.every(SILENCE_TICK_MS, () => this.#tick());
  }

  /** To be called when the calls have been told to end: their last frames still leave, but are not waited for long. */
  async close(): Promise<void> {
    this.#stopTicking();
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
      begin: (phone, wire, started) => {
        const redeem = async () => {
          const claims = await streamUuids.redeem(started.streamId);
          if (claims === undefined) {
            log.warn(
              { refusal: "unknown" },
              "an AudioSocket call was refused: ask for its UUID first",
            );
          }
          return claims;
        };
        return phoneCalls.begin({ vendor: AUDIO_SOCKET, socket: phone, wire, started, redeem });
      },
      onRefused: (reason) => log.warn({ reason }, "an AudioSocket connection was closed"),
      clock,
    });
    this.#callers.add(caller);
    socket.on("close", () => this.#callers.delete(caller));
  }

  /** Once, until there is room again: whoever floods the port does not flood the log. */
  #dropped(): void {
    if (this.#isFull) return;
    this.#isFull = true;
    const connections = this.#callers.size;
    this.#options.log.warn({ connections }, "there are too many AudioSocket connections");
  }

  #tick(): void {
    for (const caller of this.#callers) {
      if (caller.countSilence() < SILENT_TICKS_MAX) continue;
      this.#options.log.warn({}, "an AudioSocket connection fell silent; its call ends");
      caller.drop();
    }
  }
}
