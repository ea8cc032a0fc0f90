import type { WebSocket } from "ws";
import type { IncomingCall, TakenCall, Telephone } from "./telephone.js";
import { parseFromTelephone, type ToTelephone } from "./telephone-message.js";

/** Asking the webhook and opening the stream take milliseconds on one machine. */
const CONNECT_MAX_MS = 15_000;

/** A call that the telephone is busy with. */
interface Engaged {
  readonly left: Promise<void>;
  readonly connected: (isConnected: boolean) => void;
  readonly over: () => void;
}

/** A telephone in another process, as the exchange sees it. */
export class PluggedTelephone implements Telephone {
  readonly #socket: WebSocket;
  #engaged: Engaged | undefined;

  /** `onCalling` is told of a call that the telephone makes by itself. */
  constructor(
    socket: WebSocket,
    onCalling: (callSid: string, to: string, taken: TakenCall) => void,
  ) {
    this.#socket = socket;
    socket.on("message", (data: Buffer) => {
      const message = parseFromTelephone(data.toString("utf8"));
      if (message?.event === "connected") this.#engaged?.connected(true);
      else if (message?.event === "over") this.#over();
      else if (message?.event === "calling" && !this.isBusy) {
        const { left } = this.#engage(() => undefined);
        onCalling(message.callSid, message.to, this.#taken(left));
      }
    });
    // The close that follows tells it.
    socket.on("error", () => undefined);
    socket.on("close", () => this.#over());
  }

  get isBusy(): boolean {
    return this.#engaged !== undefined;
  }

  async answer(call: IncomingCall): Promise<TakenCall> {
    const connected = new Promise<boolean>((resolve) => {
      this.#engage(resolve);
    });
    const { left } = this.#engaged ?? { left: Promise.resolve() };
    this.#send({ event: "answer", call });
    const timer = setTimeout(() => this.#over(), CONNECT_MAX_MS);
    const isConnected = await connected;
    clearTimeout(timer);
    if (!isConnected) throw new Error("the telephone could not open its stream");
    return this.#taken(left);
  }

  told(number: string, status: string): void {
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

  #taken(left: Promise<void>): TakenCall {
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
