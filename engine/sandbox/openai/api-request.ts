import type { Exchange } from "../exchange.js";
import type { SandboxContext } from "../simulator.js";

/** A request to one of the vendors with OpenAI's protocol. */
export interface ApiRequest {
  readonly context: SandboxContext;
  readonly vendor: "openai" | "groq";
  readonly exchange: Exchange;
  /** In the journal, and part of the ids in the response. */
  readonly id: number;
  readonly receivedNs: bigint;
}
