import type { AgentTemplate } from "./agent-templates.js";
import { answered, api } from "./api.js";
import type { Answered } from "./contract-paths.js";

/** Takes the best models that the plan allows and that are set up; the search gives them first. */
export async function makeAgent(
  name: string,
  template?: AgentTemplate["agent"],
): Promise<Answered<"createAgent">> {
  const first = async (category: "llm" | "tts" | "stt") => {
    const query = { category, limit: 1 };
    const found = await answered(api.GET("/api/dashboard/models/search", { params: { query } }));
    const [model] = found.items;
    if (model === undefined) throw new Error(`there is no ${category} provider`);
    return model;
  };
  const [llm, tts, stt] = await Promise.all([first("llm"), first("tts"), first("stt")]);
  const body = {
    ...template,
    name,
    llmProviderId: llm.providerId,
    llmModelId: llm.modelId,
    ttsProviderId: tts.providerId,
    ttsModelId: tts.modelId,
    sttProviderId: stt.providerId,
  };
  return answered(api.POST("/api/dashboard/agents", { body }));
}
