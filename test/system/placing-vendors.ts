import { generateKeyPairSync } from "node:crypto";
import { KEY } from "../../bench/attack/clients/webhook-signers.js";
import type { Exchange } from "../../engine/sandbox/exchange.js";
import {
  PhoneApiSimulator,
  type SimulatedCall,
} from "../../engine/sandbox/telephone/phone-api-simulator.js";
import { eventually } from "./eventually.js";
import { PublicEntrance, SimulatedVendor } from "./public-entrance.js";

export const PLACING_VENDORS = [
  "twilio",
  "signalwire",
  "telnyx",
  "plivo",
  "vonage",
  "jambonz",
  "asterisk",
] as const;
export type PlacingVendorName = (typeof PLACING_VENDORS)[number];

/** Answers instead of the vendor's simulator. */
export type ApiAnswer = (exchange: Exchange) => Promise<void>;

interface Vendor {
  readonly simulator: PhoneApiSimulator;
  readonly api: SimulatedVendor;
  /** For the next request only. */
  next: ApiAnswer | undefined;
}

async function startVendor(name: PlacingVendorName): Promise<Vendor> {
  const simulator = new PhoneApiSimulator(name);
  const vendor: { next: ApiAnswer | undefined } = { next: undefined };
  const api = await SimulatedVendor.start({
    handleRequest: (exchange) => {
      const { next } = vendor;
      vendor.next = undefined;
      return next === undefined ? simulator.handleRequest(exchange) : next(exchange);
    },
  });
  return Object.assign(vendor, { simulator, api });
}

/** Every vendor that can place calls, each with the installation's account, and the server's public address. */
export class PlacingVendors {
  readonly environment: Readonly<Record<string, string>>;
  readonly #vendors: ReadonlyMap<string, Vendor>;
  readonly #entrance: PublicEntrance;

  static async start(): Promise<PlacingVendors> {
    const vendors = new Map<string, Vendor>();
    for (const name of PLACING_VENDORS) vendors.set(name, await startVendor(name));
    return new PlacingVendors(vendors, await PublicEntrance.open());
  }

  private constructor(vendors: ReadonlyMap<string, Vendor>, entrance: PublicEntrance) {
    this.#vendors = vendors;
    this.#entrance = entrance;
    const { privateKey } = generateKeyPairSync("rsa", {
      modulusLength: 2_048,
      publicKeyEncoding: { type: "spki", format: "pem" },
      privateKeyEncoding: { type: "pkcs8", format: "pem" },
    });
    const urlOf = (name: PlacingVendorName) => this.#of(name).api.url;
    this.environment = {
      PUBLIC_BASE_URL: entrance.url,
      TWILIO_ACCOUNT_SID: "AC1",
      TWILIO_AUTH_TOKEN: KEY,
      TWILIO_BASE_URL: urlOf("twilio"),
      SIGNALWIRE_PROJECT_ID: "project",
      SIGNALWIRE_API_TOKEN: "token",
      SIGNALWIRE_BASE_URL: urlOf("signalwire"),
      TELNYX_API_KEY: "key",
      TELNYX_TEXML_APP_ID: "17",
      TELNYX_BASE_URL: urlOf("telnyx"),
      PLIVO_AUTH_ID: "MA1",
      PLIVO_AUTH_TOKEN: KEY,
      PLIVO_BASE_URL: urlOf("plivo"),
      VONAGE_APPLICATION_ID: "application",
      VONAGE_PRIVATE_KEY: privateKey.replaceAll("\n", "\\n"),
      VONAGE_BASE_URL: urlOf("vonage"),
      JAMBONZ_ACCOUNT_SID: "account",
      JAMBONZ_API_KEY: "key",
      JAMBONZ_BASE_URL: urlOf("jambonz"),
      ASTERISK_ARI_URL: `${urlOf("asterisk")}/ari`,
      ASTERISK_ARI_USER: "parley",
      ASTERISK_ARI_PASSWORD: "password",
      VENDOR_REQUESTS_PER_MINUTE: "10000",
    };
  }

  /** The server's public address. */
  get url(): string {
    return this.#entrance.url;
  }

  leadTo(serverPort: number): Promise<void> {
    return this.#entrance.leadTo(serverPort);
  }

  /** A call that a test makes to the server, which the vendor's REST API then knows. */
  adopt(name: PlacingVendorName, call: Pick<SimulatedCall, "id" | "from" | "to">): SimulatedCall {
    return this.#of(name).simulator.adopt(call);
  }

  /** The calls of the vendor from that number. */
  callsFrom(name: PlacingVendorName, from: string): readonly SimulatedCall[] {
    return this.#of(name).simulator.calls.filter((call) => call.from === from);
  }

  /** Resolves with the call from that number. */
  callFrom(name: PlacingVendorName, from: string): Promise<SimulatedCall> {
    return eventually(`the call at ${name}`, () => this.callsFrom(name, from)[0]);
  }

  /** The vendor's next request is answered so. */
  answerNext(name: PlacingVendorName, answer: ApiAnswer): void {
    this.#of(name).next = answer;
  }

  close(): void {
    this.#entrance.close();
    for (const { simulator, api } of this.#vendors.values()) {
      simulator.close();
      api.close();
    }
  }

  #of(name: PlacingVendorName): Vendor {
    const vendor = this.#vendors.get(name);
    if (vendor === undefined) throw new Error(`${name} was not started`);
    return vendor;
  }
}
