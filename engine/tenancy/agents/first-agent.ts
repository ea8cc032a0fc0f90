import type { AgentRecord, Category } from "../../../storage/records.js";
import type { FoundModel, ModelSearch } from "../providers/model-search.js";
import type { Tenant } from "../tenant.js";
import type { AgentReferences } from "./agent-input.js";
import type { Agents } from "./agents.js";

export interface FirstAgentServices {
  readonly agents: Pick<Agents, "create">;
  readonly modelSearch: Pick<ModelSearch, "search">;
}

/** The best model of each category for a new agent; undefined if the plan allows no available model. */
export type ChosenModels = Readonly<Record<Category, FoundModel | undefined>>;

export type FirstAgent =
  | { readonly agent: AgentRecord; readonly models: Readonly<Record<Category, FoundModel>> }
  | { readonly agent: undefined; readonly missing: readonly Category[] };

/** Chooses the models that the model search lists first. */
export async function chooseModels(
  modelSearch: FirstAgentServices["modelSearch"],
  tenant: Tenant,
): Promise<ChosenModels> {
  const first = async (category: Category) => {
    const query = { category, query: "", skip: 0, limit: 1 };
    const [model] = (await modelSearch.search(tenant, query)).items;
    return model?.allowed === true ? model : undefined;
  };
  const [llm, tts, stt] = await Promise.all([first("llm"), first("tts"), first("stt")]);
  return { llm, tts, stt };
}

/** The fields of an agent that refer to the chosen models. */
export function referencesTo({ llm, tts, stt }: ChosenModels): Partial<AgentReferences> {
  return {
    ...(llm && { llmProviderId: llm.providerId, llmModelId: llm.modelId }),
    ...(tts && { ttsProviderId: tts.providerId, ttsModelId: tts.modelId }),
    ...(stt && { sttProviderId: stt.providerId }),
  };
}

/** Creates an agent from the configured vendors, or returns the missing categories. Rejects like `Agents.create`. */
export async function createFirstAgent(
  { agents, modelSearch }: FirstAgentServices,
  tenant: Tenant,
  name: string,
): Promise<FirstAgent> {
  const { llm, tts, stt } = await chooseModels(modelSearch, tenant);
  if (llm === undefined || tts === undefined || stt === undefined) {
    const found = { llm, tts, stt };
    const missing = (["llm", "tts", "stt"] as const).filter((one) => found[one] === undefined);
    return { agent: undefined, missing };
  }
  const agent = await agents.create(tenant, {
    name,
    llmProviderId: llm.providerId,
    llmModelId: llm.modelId,
    ttsProviderId: tts.providerId,
    ttsModelId: tts.modelId,
    sttProviderId: stt.providerId,
  });
  return { agent, models: { llm, tts, stt } };
}
