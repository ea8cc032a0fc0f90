import { randomBytes, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import * as v from "valibot";
import { CallRefusedError } from "../../engine/calls/call-refused-error.js";
import { Caller } from "../../engine/sandbox/caller.js";
import { Exchange } from "../../engine/sandbox/exchange.js";
import { noFaults } from "../../engine/sandbox/faults.js";
import { PhoneCaller } from "../../engine/sandbox/telephone/phone-caller.js";
import { CallRefusedByServerError } from "../../engine/sandbox/telephone/phone-webhook.js";
import { TwilioSimulator } from "../../engine/sandbox/telephone/twilio-simulator.js";

export const TWILIO_ACCOUNT = {
  accountSid: `AC${"1".repeat(32)}`,
  authToken: "the-kill-rounds-token",
};
/** From where the agents call. */
export const OWN_NUMBER = "+15550109999";
/** Placed calls go to numbers that begin so. */
export const TARGETS = "+1555";
/** What becomes of a placed call, by the last digits of its number. */
const FATES = ["1000", "0001", "0002", "0003", "0004"] as const;
/** Some of the placed calls ring when a server is killed. */
const RING_MS = 150;
/** Code of a web call whose agent does not exist. */
const AGENT_NOT_FOUND = 4005;
const ANSWER_MAX_MS = 10_000;
/**
 * Callers hear these words from a server that cannot store a call, or the event of its refusal, and these refusals have no event:
 * what cannot be written cannot be reported. The words stand inside a sentence.
 */
const BUSY_WORDS = new CallRefusedError("storeFailing", "").callerWords;

/** Whether the words tell the caller the reason of a refusal. Such a refusal has an event. */
export function promisesEvent(heard: string): boolean {
  return !heard.includes(BUSY_WORDS);
}

/** Every way in which a call can come and end, but those that a kill makes. */
const WAYS = [
  "web",
  "webRefused",
  "phone",
  "placed",
  "webDropped",
  "phoneRefused",
  "placed",
  "phoneDropped",
] as const;

type Way = (typeof WAYS)[number];

const Placed = v.object({ id: v.string() });

/** The telephony vendor, whose callees hang up as soon as they have answered. */
export class KilledVendor {
  readonly #simulator: TwilioSimulator;
  readonly #server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://twilio");
    void this.#simulator.handleRequest(new Exchange(request, response, url));
  });

  static async open(): Promise<KilledVendor> {
    const vendor = new KilledVendor();
    await new Promise<void>((resolve) => {
      vendor.#server.listen(0, "127.0.0.1", resolve);
    });
    return vendor;
  }

  private constructor() {
    const faults = noFaults();
    faults.twilio = { ringMs: RING_MS };
    this.#simulator = new TwilioSimulator({ faults, talk: (caller) => caller.hangUp() });
  }

  get url(): string {
    const address = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${address.port}`;
  }

  close(): void {
    this.#simulator.close();
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

/** Makes short calls to servers that may be killed at any moment, and records the servers' responses. */
export class WebhookCalls {
  readonly placed = new Set<string>();
  readonly refusedAgents = new Set<string>();
  readonly refusedNumbers = new Set<string>();
  readonly #server: { readonly url: string; readonly apiKey: string; readonly agentId: string };
  #begun = 0;
  /** Calls whose server was killed before it had answered. */
  unanswered = 0;
  /** The numbers of telephone callers who were told to call again later. */
  readonly busyNumbers = new Set<string>();

  constructor(server: { readonly url: string; readonly apiKey: string; readonly agentId: string }) {
    this.#server = server;
  }

  get begun(): number {
    return this.#begun;
  }

  /** Makes the next call, until it is over for its caller. Never rejects: a caller whose server was killed has no call. */
  async make(): Promise<void> {
    const number = this.#begun;
    this.#begun += 1;
    const way = WAYS[number % WAYS.length] ?? "web";
    const ways: Readonly<Record<Way, () => Promise<void>>> = {
      web: () => this.#web(false),
      webDropped: () => this.#web(true),
      webRefused: () => this.#webRefused(),
      phone: () => this.#phone(number, false),
      phoneDropped: () => this.#phone(number, true),
      phoneRefused: () => this.#phoneRefused(number),
      placed: () => this.#place(number),
    };
    try {
      await ways[way]();
    } catch {
      this.unanswered += 1;
    }
  }

  async #web(isDropped: boolean): Promise<void> {
    const { url, apiKey } = this.#server;
    const caller = await Caller.connect({ url, apiKey, keepsAudio: false });
    if (isDropped) caller.drop();
    else await caller.hangUp();
  }

  async #webRefused(): Promise<void> {
    const { url, apiKey } = this.#server;
    const agentId = randomUUID();
    const caller = Caller.dial({ url, apiKey, agentId, keepsAudio: false });
    const closed = await caller.until(({ type }) => type === "closed", ANSWER_MAX_MS);
    if (closed.type === "closed" && closed.code === AGENT_NOT_FOUND)
      this.refusedAgents.add(agentId);
  }

  async #phone(number: number, isDropped: boolean): Promise<void> {
    const caller = await this.#ring(number, this.#server.agentId);
    if (isDropped) caller.drop();
    else await caller.hangUp();
  }

  async #phoneRefused(number: number): Promise<void> {
    try {
      const caller = await this.#ring(number, randomUUID());
      caller.drop();
    } catch (error) {
      if (!(error instanceof CallRefusedByServerError)) throw error;
      if (promisesEvent(error.words)) this.refusedNumbers.add(numberOf(number));
      else this.busyNumbers.add(numberOf(number));
    }
  }

  #ring(number: number, agentId: string): Promise<PhoneCaller> {
    const { url, apiKey } = this.#server;
    const query = new URLSearchParams({ api_key: apiKey, agent_id: agentId });
    return PhoneCaller.call({
      webhookUrl: `${url}/api/telephony/voice?${query.toString()}`,
      callSid: `CA${randomBytes(16).toString("hex")}`,
      from: numberOf(number),
      authToken: TWILIO_ACCOUNT.authToken,
      keepsAudio: false,
    });
  }

  async #place(number: number): Promise<void> {
    const { url, apiKey, agentId } = this.#server;
    const fate = FATES[Math.floor(number / WAYS.length) % FATES.length];
    const order = {
      agentId,
      from: OWN_NUMBER,
      to: `${TARGETS}010${fate}`,
      detectMachine: fate === "0004",
    };
    const response = await fetch(`${url}/api/dashboard/calls`, {
      method: "POST",
      headers: { "x-api-key": apiKey, "content-type": "application/json" },
      body: JSON.stringify(order),
      signal: AbortSignal.timeout(ANSWER_MAX_MS),
    });
    const answer: unknown = await response.json();
    if (response.status === 201) this.placed.add(v.parse(Placed, answer).id);
  }
}

function numberOf(number: number): string {
  return `+1666${String(number).padStart(7, "0")}`;
}
