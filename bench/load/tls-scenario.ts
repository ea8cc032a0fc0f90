import {
  describePhoneLoad,
  type PhoneVariant,
  phonePhrases,
  runPhoneLoad,
} from "../phone/phone-load.js";
import type { Scenario, ScenarioResult } from "../scenarios.js";
import { startPreparedVendors } from "../stand/prepared-vendors.js";
import { overTls, type VendorStand } from "../stand/stand.js";
import type { LoadPlan } from "./call-load.js";
import type { Phrase } from "./phrases.js";

/** The telephone's relay and then the server, with every vendor over TLS: what gates is the CPU that both need. */
export class TlsLoadScenario implements Scenario {
  readonly name: string;
  readonly #plan: LoadPlan;
  #vendors: VendorStand | undefined;
  #phrases: readonly Phrase[] = [];

  constructor(plan: LoadPlan) {
    this.name = `${plan.callers} telephone calls, vendors over TLS`;
    this.#plan = plan;
  }

  async run(): Promise<ScenarioResult> {
    const vendors = await this.#prepared();
    const load = (variant: PhoneVariant) =>
      runPhoneLoad(variant, vendors, this.#phrases, this.#plan);
    const relay = await load("relay");
    const server = await load("elevenlabs");
    return {
      measurements: [
        {
          name: "tlsCpuPerCallSecond",
          measured: server.cpuMsPerCallSecond,
          reference: relay.cpuMsPerCallSecond,
        },
      ],
      details: [
        ...describePhoneLoad("relay over TLS", relay),
        ...describePhoneLoad("server over TLS", server),
      ],
    };
  }

  async close(): Promise<void> {
    await this.#vendors?.process.stop();
  }

  async #prepared(): Promise<VendorStand> {
    if (this.#vendors !== undefined) return this.#vendors;
    this.#phrases = phonePhrases(this.#plan);
    this.#vendors = overTls(await startPreparedVendors(this.#phrases, ["elevenlabs"]));
    return this.#vendors;
  }
}
