import { noFaults, type SandboxFaults } from "../../engine/sandbox/faults.js";
import {
  type TwilioCall,
  TwilioSimulator,
} from "../../engine/sandbox/telephone/twilio-simulator.js";
import { eventually } from "./eventually.js";
import { PublicEntrance, SimulatedVendor } from "./public-entrance.js";

export const ACCOUNT_SID = `AC${"1".repeat(32)}`;
export const AUTH_TOKEN = "the-vendors-auth-token";

/** The telephony vendor on a socket, and a public address of the server that is known before the server's port. */
export class TwilioStand {
  readonly faults: SandboxFaults;
  readonly simulator: TwilioSimulator;
  readonly #api: SimulatedVendor;
  readonly #entrance: PublicEntrance;

  static async start(): Promise<TwilioStand> {
    const faults = noFaults();
    const simulator = new TwilioSimulator({ faults });
    const [api, entrance] = await Promise.all([
      SimulatedVendor.start(simulator),
      PublicEntrance.open(),
    ]);
    return new TwilioStand(faults, simulator, api, entrance);
  }

  private constructor(
    faults: SandboxFaults,
    simulator: TwilioSimulator,
    api: SimulatedVendor,
    entrance: PublicEntrance,
  ) {
    this.faults = faults;
    this.simulator = simulator;
    this.#api = api;
    this.#entrance = entrance;
  }

  get baseUrl(): string {
    return this.#api.url;
  }

  get environment(): Record<string, string> {
    return {
      TWILIO_ACCOUNT_SID: ACCOUNT_SID,
      TWILIO_AUTH_TOKEN: AUTH_TOKEN,
      TWILIO_BASE_URL: this.baseUrl,
      PUBLIC_BASE_URL: this.#entrance.url,
      VENDOR_REQUESTS_PER_MINUTE: "10000",
    };
  }

  leadTo(serverPort: number): Promise<void> {
    return this.#entrance.leadTo(serverPort);
  }

  /** Resolves with the call to that number, once `has` returns a value for it. */
  of<T>(to: string, what: string, has: (call: TwilioCall) => T | undefined): Promise<T> {
    return eventually(what, () => {
      const call = this.simulator.calls.find(({ form }) => form.get("To") === to);
      return call === undefined ? undefined : has(call);
    });
  }

  close(): void {
    this.simulator.close();
    this.#api.close();
    this.#entrance.close();
  }
}
