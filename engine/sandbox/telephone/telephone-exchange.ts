import { refuseUpgrade, type Upgrade } from "../simulator.js";
import { SimulatorSockets } from "../simulator-sockets.js";
import { PluggedTelephone } from "./plugged-telephone.js";
import type { TakenCall, Telephone } from "./telephone.js";
import { MESSAGE_BYTES_MAX } from "./telephone-message.js";

/** More than people try by hand. */
const TELEPHONES_MAX = 1_000;
const PATH = /^\/phones\/(\+[1-9]\d{6,14})$/;

export interface OwnCall {
  readonly callSid: string;
  readonly from: string;
  readonly to: string;
  readonly taken: TakenCall;
  readonly telephone: Telephone;
}

/** `GET /phones/+15550001111`: telephones of other processes, each at its number for as long as its WebSocket is open. */
export class TelephoneExchange {
  readonly #telephones = new Map<string, Telephone>();
  readonly #onCalling: (call: OwnCall) => void;
  readonly #sockets = new SimulatorSockets(MESSAGE_BYTES_MAX);

  /** `onCalling` is told of calls that telephones make by themselves. */
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
