import { ParleyError } from "../../storage/parley-error.js";
import type { AgentLlm } from "../conversation/effect-runner.js";
import { withPassages } from "../conversation/passages-note.js";
import { CallKnowledge, type CallKnowledgeDeps } from "../knowledge/call-knowledge.js";
import type { Logger } from "../log.js";
import { OrganizationCounts } from "../organization-counts.js";
import { RequestError } from "../request-error.js";
import { type AgentForCall, AgentUnavailableError } from "../tenancy/agents/agent-for-call.js";
import type { Agents } from "../tenancy/agents/agents.js";
import { vendorWords } from "../tenancy/providers/vendor-words.js";
import type { Tenant } from "../tenancy/tenant.js";
import type { Clock } from "../time/clock.js";
import { type ChatMessage, VendorError } from "../vendors/contracts.js";
import { withVariables } from "./call-variables.js";

/** Longer than any reply that a caller would listen to. */
const CHAT_REPLY_MAX_MS = 60_000;
/** One user tests one agent at a time, in a tab or two. */
const CHATS_OF_ORGANIZATION_MAX = 5;
/** Calls have priority: further chats are refused rather than share the vendors' connections with calls. */
const CHATS_MAX = 50;
const RETRY_AFTER_SEC = 5;
/** A chat has no partial words whose vectors would be there by the end of the question. */
const VECTORS_WAIT_MAX_MS = 1_000;

export interface ChatUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
}

/** The LLM could not answer; the message is in plain words, for members of the organization. */
export class ChatError extends ParleyError {
  override readonly name = "ChatError";
  readonly code = "chat_failed";
}

/** One reserved reply, which has not been requested yet. */
export interface AgentChat {
  /** Call it once. Calls `onText` with every piece of the reply, in order. Rejects with a `ChatError`. */
  reply(onText: (text: string) => void): Promise<ChatUsage>;
}

export interface AgentChatsOptions {
  readonly agents: Pick<Agents, "forCall">;
  /** The LLM that the agent uses in calls. Throws a VendorError. */
  readonly llmOf: (forCall: AgentForCall, documents: string) => AgentLlm;
  readonly knowledge: CallKnowledgeDeps["store"];
  readonly vectors?: CallKnowledgeDeps["vectors"];
  readonly clock: Clock;
  readonly log: Logger;
}

/** Text chats with an agent: its prompt and its LLM as in a call, without STT and TTS. */
export class AgentChats {
  readonly #options: AgentChatsOptions;
  readonly #counts = new OrganizationCounts();
  #count = 0;

  constructor(options: AgentChatsOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * The reservation lasts until `reply` has settled or `signal` aborts, which happens when the client disconnects.
   * RequestError `not_found`; `conflict`: the agent is not active, with the reason; `rate_limited`, `unavailable`:
   * too many chats.
   */
  async start(
    tenant: Tenant,
    agentId: string,
    messages: readonly ChatMessage[],
    signal: AbortSignal,
  ): Promise<AgentChat> {
    const forCall = await this.#agentFor(tenant, agentId);
    const release = this.#takePlace(tenant.organization.id);
    if (signal.aborted) release();
    else signal.addEventListener("abort", release, { once: true });
    return {
      reply: async (onText) => {
        try {
          return await this.#request(forCall, messages, onText, signal);
        } finally {
          signal.removeEventListener("abort", release);
          release();
        }
      },
    };
  }

  async #agentFor(tenant: Tenant, agentId: string): Promise<AgentForCall> {
    try {
      const forCall = await this.#options.agents.forCall(tenant, agentId);
      const atMs = this.#options.clock.epochMs();
      const facts = { callId: "", channel: "web", callInfo: undefined, atMs } as const;
      return { ...forCall, agent: withVariables(forCall.agent, {}, facts) };
    } catch (error) {
      if (!(error instanceof AgentUnavailableError)) throw error;
      if (error.status === "notFound")
        throw new RequestError("agent_not_found", "there is no such agent");
      throw new RequestError("agent_not_active", `the agent is not active: ${error.message}`);
    }
  }

  #knowledgeOf({ id: agentId, orgId, knowledge: { documentIds } }: AgentForCall["agent"]) {
    const { knowledge: store, vectors, clock, log } = this.#options;
    const onError = (error: unknown) =>
      log.warn({ agentId, error }, "documents could not be searched");
    return CallKnowledge.open(orgId, documentIds, { store, vectors, clock, onError });
  }

  #takePlace(orgId: string): () => void {
    const retryAfterSec = RETRY_AFTER_SEC;
    if (this.#counts.of(orgId) >= CHATS_OF_ORGANIZATION_MAX) {
      const message = `an organization can have ${CHATS_OF_ORGANIZATION_MAX} chats at the same time`;
      throw new RequestError("concurrency_limit_reached", message, { retryAfterSec });
    }
    if (this.#count >= CHATS_MAX) {
      throw new RequestError("overloaded", "too many chats at the same time", { retryAfterSec });
    }
    this.#count += 1;
    this.#counts.add(orgId);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      this.#count -= 1;
      this.#counts.remove(orgId);
    };
  }

  async #request(
    forCall: AgentForCall,
    messages: readonly ChatMessage[],
    onText: (text: string) => void,
    signal: AbortSignal,
  ): Promise<ChatUsage> {
    const { clock, log, llmOf } = this.#options;
    const deadline = new AbortController();
    const cancel = clock.after(CHAT_REPLY_MAX_MS, () => deadline.abort());
    try {
      const hasDocuments = forCall.agent.knowledge.documentIds.length > 0;
      const knowledge = hasDocuments ? await this.#knowledgeOf(forCall.agent) : undefined;
      const question = messages.findLast(({ role }) => role === "user")?.content ?? "";
      if (knowledge !== undefined) await knowledge.hearWhole(question, VECTORS_WAIT_MAX_MS);
      const passages = knowledge === undefined ? "" : await knowledge.noteFor(0, question);
      const llm = llmOf(forCall, knowledge?.wholeNote ?? "");
      const either = AbortSignal.any([signal, deadline.signal]);
      const asked = { messages, passages };
      const { promptTokens, completionTokens } = await complete(llm, asked, onText, either);
      return { promptTokens, completionTokens };
    } catch (error) {
      if (!(error instanceof VendorError)) throw error;
      const { vendor, fault } = error;
      if (!signal.aborted) log.warn({ agentId: forCall.agent.id, vendor, fault }, "a chat failed");
      const words = deadline.signal.aborted
        ? `the reply took longer than ${CHAT_REPLY_MAX_MS / 1_000} s`
        : vendorWords(error, forCall.llm.orgId !== null);
      throw new ChatError(words, { cause: error });
    } finally {
      cancel();
    }
  }
}

function complete(
  { client, modelId, systemPrompt, temperature, maxTokens }: AgentLlm,
  { messages, passages }: { readonly messages: readonly ChatMessage[]; readonly passages: string },
  onText: (text: string) => void,
  signal: AbortSignal,
) {
  const prompt: ChatMessage = { role: "system", content: systemPrompt };
  const conversation = withPassages(messages, passages);
  const request = { modelId, messages: [prompt, ...conversation], temperature, maxTokens };
  return client.complete(request, onText, signal);
}
