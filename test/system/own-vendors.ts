import type { TestContext } from "node:test";
import type { Caller } from "../../engine/sandbox/caller.js";
import type { SandboxFaults } from "../../engine/sandbox/faults.js";
import { type Sandbox, startSandbox } from "../../engine/sandbox/sandbox.js";
import type { AgentInput } from "../../engine/tenancy/agents/agent-input.js";
import type { ProviderInput } from "../../engine/tenancy/providers/provider-input.js";
import type { CallRecord, Category } from "../../storage/records.js";
import { Changes } from "../doubles/changes.js";
import {
  type AgentVendorKeys,
  type Customer,
  MODELS,
  type TestServer,
  VENDOR_KEY,
} from "./test-server.js";

/** The server needs this setting: the vendors' addresses are private. */
export const OWN_VENDORS_ALLOWED = { ALLOW_PRIVATE_PROVIDERS: "true" };

export interface OwnVendorsOptions extends Omit<AgentVendorKeys, "stt"> {
  readonly faults?: Partial<SandboxFaults>;
  readonly agent?: Partial<AgentInput>;
}

/** An organization whose providers are a sandbox of its own, so that its faults affect no other organization. */
export class OwnVendors {
  readonly server: TestServer;
  readonly sandbox: Sandbox;
  readonly customer: Customer;
  /** Changes of the customer's sandbox. */
  readonly changes: Changes;

  static async of(
    server: TestServer,
    context: TestContext,
    options: OwnVendorsOptions = {},
  ): Promise<OwnVendors> {
    const { llm = "openai", tts = "openai", faults = {}, agent = {} } = options;
    const changes = new Changes();
    const sandbox = await startSandbox({ journal: true, faults, onChange: changes.tell });
    context.after(() => sandbox.close());
    const customer = await server.customer();
    const own = new OwnVendors({ server, sandbox, customer, changes });
    const { urls } = sandbox;
    const llmProviderId = await own.#provider("llm", llm, urls[llm], MODELS.llm[llm]);
    const ttsProviderId = await own.#provider("tts", tts, urls[tts], MODELS.tts[tts]);
    const sttProviderId = await own.#provider("stt", "deepgram", urls.deepgram, "nova-3");
    const references = { llmProviderId, ttsProviderId, sttProviderId };
    await server.agent(customer, { ...references, ...agent }, { llm, tts });
    return own;
  }

  private constructor(parts: Pick<OwnVendors, "server" | "sandbox" | "customer" | "changes">) {
    this.server = parts.server;
    this.sandbox = parts.sandbox;
    this.customer = parts.customer;
    this.changes = parts.changes;
  }

  get faults(): SandboxFaults {
    return this.sandbox.faults;
  }

  call(): Promise<Caller> {
    return this.server.call(this.customer);
  }

  dial(): Caller {
    return this.server.dial(this.customer);
  }

  endedCall(): Promise<CallRecord> {
    return this.server.endedCall(this.customer);
  }

  async #provider(
    category: Category,
    providerKey: string,
    baseUrl: string,
    modelId: string,
  ): Promise<string> {
    const keyed = !["ollama", "edge"].includes(providerKey);
    const input: ProviderInput = {
      category,
      providerKey,
      name: "Our own",
      models: [{ modelId, label: modelId }],
      settings: { baseUrl },
      ...(keyed ? { credentials: { apiKey: VENDOR_KEY } } : {}),
    };
    const { id } = await this.server.tenancy.providers.create(this.customer.tenant, input);
    return id;
  }
}
