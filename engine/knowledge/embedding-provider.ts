import type { EmbeddingChoice } from "../../storage/knowledge/embedding-store.js";
import type { ProviderRecord } from "../../storage/records.js";
import { modelString } from "../tenancy/agents/agent-access.js";

/** `vendor/model`, as in plans: models of the platform's LLM providers that the operator lets organizations embed with. */
export type PlatformModels = ReadonlySet<string>;

/** Whether the organization may embed with the provider, which may be switched off: its own, or the platform's. */
export function mayEmbed(
  provider: ProviderRecord,
  { orgId, modelId }: Pick<EmbeddingChoice, "orgId" | "modelId">,
  platformModels: PlatformModels,
): boolean {
  if (provider.orgId !== null) return provider.orgId === orgId;
  return provider.category === "llm" && platformModels.has(modelString(provider, modelId));
}
