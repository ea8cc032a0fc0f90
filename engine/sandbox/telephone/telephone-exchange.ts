import type { WebSocket } from "ws";
import { refuseUpgrade, type Upgrade } from "../simulator.js";
import { SimulatorSockets } from "../simulator-sockets.js";
import type { AnsweredCall, IncomingCall, Telephone } from "./telephone.js";
import { MESSAGE_BYTES_MAX, parseFromTelephone, type ToTelephone } from "./telephone-message.js";

/** The webhook request and the stream take milliseconds on one machine. */
const CONNECT_MAX_MS = 15_000;

/** The call that occupies the telephone. */
interface Engaged {
  readonly left: Promise<void>;
  readonly connected: (isConnected: boolean) => void;
  readonly over: () => void;
}

/** A telephone in another process, as the exchange sees it. */
export class PluggedTelephone implements Telephone {
  readonly #socket: WebSocket;
  #engaged: Engaged | undefined;

  /** `onCalling` is called for a call that the telephone makes itself. */
  constructor(
    socket: WebSocket,
    onCalling: (callSid: string, to: string, taken: AnsweredCall) => void,
  ) {
    this.#socket = socket;
    socket.on("message", (data: Buffer) => {
      const message = parseFromTelephone(data.toString("utf8"));
      if (message?.event === "connected") this.#engaged?.connected(true);
      else if (message?.event === "over") this.#over();
      else if (message?.event === "calling" && !this.isBusy) {
        const { left } = this.#engage(() => undefined);
        onCalling(message.callSid, message.to, this.#answeredCalls(left));
      }
    });
    // The close that follows reports it.
    socket.on("error", () => undefined);
    socket.on("close", () => this.#over());
  }

  get isBusy(): boolean {
    return this.#engaged !== undefined;
  }

  async answer(call: IncomingCall): Promise<AnsweredCall> {
    const connected = new Promise<boolean>((resolve) => {
      this.#engage(resolve);
    });
    const { left } = this.#engaged ?? { left: Promise.resolve() };
    this.#send({ event: "answer", call });
    const timer = setTimeout(() => this.#over(), CONNECT_MAX_MS);
    const isConnected = await connected;
    clearTimeout(timer);
    if (!isConnected) throw new Error("the telephone could not open its stream");
    return this.#answeredCalls(left);
  }

  reportStatus(number: string, status: string): void {
    this.#send({ event: "status", number, status });
  }

  #engage(connected: (isConnected: boolean) => void): Engaged {
    let over = () => {};
    const left = new Promise<void>((resolve) => {
      over = resolve;
    });
    this.#engaged = { left, connected, over };
    return this.#engaged;
  }

  #answeredCalls(left: Promise<void>): AnsweredCall {
    return {
      left,
      leave: async () => {
        this.#send({ event: "leave" });
        await left;
      },
      drop: () => this.#socket.terminate(),
    };
  }

  #over(): void {
    const engaged = this.#engaged;
    this.#engaged = undefined;
    engaged?.connected(false);
    engaged?.over();
  }

  #send(message: ToTelephone): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(JSON.stringify(message));
  }
}

/** More than people use in manual tests. */
const TELEPHONES_MAX = 1_000;
const PATH = /^\/phones\/(\+[1-9]\d{6,14})$/;

export interface OwnCall {
  readonly callSid: string;
  readonly from: string;
  readonly to: string;
  readonly taken: AnsweredCall;
  readonly telephone: Telephone;
}

/**
 * `GET /phones/+15550001111`: telephones of other processes, each at its number for as long as its WebSocket is
 * open.
 */
export class TelephoneExchange {
  readonly #telephones = new Map<string, Telephone>();
  readonly #onCalling: (call: OwnCall) => void;
  readonly #sockets = new SimulatorSockets(MESSAGE_BYTES_MAX);

  /** `onCalling` is called for calls that telephones make themselves. */
  constructor(onCalling: (call: OwnCall) => void) {
    this.#onCalling = onCalling;
  }

  at(number: string): Telephone | undefined {
    return this.#telephones.get(number);
  }

  handleUpgrade(upgrade: Upgrade): void {
    const number = PATH.exec(upgrade.url.pathname)?.[1];
    if (number === undefined) return refuseUpgrade(upgrade, 404, "expected /phones/+15550001111");
    if (this.#telephones.has(number)) {
      return refuseUpgrade(upgrade, 409, "another telephone has this number");
    }
    if (this.#telephones.size >= TELEPHONES_MAX) return refuseUpgrade(upgrade, 503, "");
    this.#sockets.accept(upgrade, (socket) => {
      const telephone: Telephone = new PluggedTelephone(socket, (callSid, to, taken) =>
        this.#onCalling({ callSid, from: number, to, taken, telephone }),
      );
      this.#telephones.set(number, telephone);
      socket.on("close", () => this.#telephones.delete(number));
    });
  }

  close(): void {
    this.#sockets.close();
  }
}
