import { type AgentChats, ChatFailed } from "../../engine/calls/agent-chats.js";
import type { ProviderChecks } from "../../engine/tenancy/providers/provider-check.js";
import type { Handlers } from "../http/endpoints/api-endpoint.js";

export interface TrialParts {
  readonly agentChats: AgentChats;
  readonly providerChecks: ProviderChecks;
}

/** What lets people try what they have set up before anybody calls. */
export function trialRoutes({
  agentChats,
  providerChecks,
}: TrialParts): Handlers<"chatWithAgent" | "testProvider"> {
  return {
    testProvider: ({ tenant, id, signal }) => providerChecks.check(tenant, id, signal),
    chatWithAgent: async ({ tenant, id, body, signal }) => {
      const chat = await agentChats.begin(tenant, id, body.messages, signal);
      return {
        produce: async (send) => {
          try {
            const usage = await chat.reply((text) => send.event("token", { text }));
            const totalTokens = usage.promptTokens + usage.completionTokens;
            send.event("done", { usage: { ...usage, totalTokens } });
          } catch (error) {
            if (!(error instanceof ChatFailed)) throw error;
            send.event("error", { message: error.message });
          }
        },
      };
    },
  };
}
