import { text } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { Caller } from "../../engine/sandbox/caller.js";
import type { Tenancy } from "../../engine/tenancy/tenancy.js";
import { httpService } from "../doubles/http-service.js";
import { ended, repliesOf } from "./events.js";
import { eventually } from "./eventually.js";
import { type Customer, MODELS, type TestCustomers } from "./test-customers.js";

/** Concurrent connections: each process of a server gets some of them. */
const CONNECTIONS = 24;
/** Longer than any test, so that no process retries the vendor. */
const RETRY_AFTER_SEC = 60;
const QUESTION = "say yes";

/**
 * An LLM that refuses its customer with 429, so that the fallback handles the calls. Counts the requests of calls only:
 * the job that summarizes a call has circuit breakers of its own.
 */
export class RefusingVendor {
  readonly customer: Customer;
  readonly #requests: { count: number };
  readonly #providerId: string;

  static async of(
    { tenancy, customers }: { readonly tenancy: Tenancy; readonly customers: TestCustomers },
    context: TestContext,
  ): Promise<RefusingVendor> {
    const requests = { count: 0 };
    const baseUrl = await httpService(context, (request, response) => {
      void text(request).then((body) => {
        if (body.includes(`"content":"${QUESTION}"`)) requests.count += 1;
        response.writeHead(429, { "retry-after": `${RETRY_AFTER_SEC}` }).end("{}");
      });
    });
    const customer = await customers.customer();
    const { id: llmProviderId } = await tenancy.providers.create(customer.tenant, {
      category: "llm",
      providerKey: "openai",
      name: "Our own",
      models: [{ modelId: MODELS.llm.openai, label: "Our own" }],
      settings: { baseUrl },
      credentials: { apiKey: "a-key-of-our-own" },
    });
    const providerId = await customers.providerId("llm", "groq");
    const fallbacks = { llm: [{ providerId, modelId: MODELS.llm.groq }] };
    await customers.agent(customer, { llmProviderId, fallbacks });
    return new RefusingVendor(customer, requests, llmProviderId);
  }

  private constructor(customer: Customer, requests: { count: number }, providerId: string) {
    this.customer = customer;
    this.#requests = requests;
    this.#providerId = providerId;
  }

  get requestCount(): number {
    return this.#requests.count;
  }

  /** Calls that server and returns the agent's reply to "say yes". */
  async reply(url: string): Promise<string | undefined> {
    const caller = await Caller.connect({ url, apiKey: this.customer.apiKey });
    await caller.say(QUESTION);
    await caller.until(ended);
    await caller.hangUp();
    return repliesOf(caller).at(-1);
  }

  /** Resolves when every process that listens at the address reports the vendor's circuit breaker as open. */
  async isKnownAt(url: string): Promise<void> {
    await eventually("all processes to know", async () => {
      const told = await Promise.all(Array.from({ length: CONNECTIONS }, () => this.#toldAt(url)));
      return told.every((each) => each === "open rateLimited") || undefined;
    });
  }

  async #toldAt(url: string): Promise<string> {
    const path = `${url}/api/dashboard/providers/${this.#providerId}`;
    const headers = { "x-api-key": this.customer.apiKey };
    const answer = await fetch(path, { headers }).catch(() => undefined);
    if (answer === undefined) return "nobody listens";
    const { breaker, lastFault } = Object(await answer.json());
    return `${breaker} ${lastFault?.fault}`;
  }
}
