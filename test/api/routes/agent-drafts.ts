import * as v from "valibot";
import { Provider } from "../../../api/contract/provider.js";
import type { LoopbackPlatform, Tenancy } from "../http/loopback-platform.js";

/** The ids of the platform's providers by category and vendor, such as "llm openai". */
export async function providerIds(
  platform: LoopbackPlatform,
  tenancy: Tenancy,
): Promise<ReadonlyMap<string, string>> {
  const { body } = await platform.client.get("/api/dashboard/providers", tenancy.byKey);
  const providers = v.parse(v.array(Provider), body).filter(({ orgId }) => orgId === null);
  return new Map(
    providers.map(({ _id, category, providerKey }) => [`${category} ${providerKey}`, _id]),
  );
}

/** The body of a new agent with the platform's providers and models of the free plan. */
export async function agentDraft(platform: LoopbackPlatform, tenancy: Tenancy) {
  const ids = await providerIds(platform, tenancy);
  function idOf(name: string): string {
    const id = ids.get(name);
    if (id === undefined) throw new Error(`no provider ${name}`);
    return id;
  }
  return {
    name: "Receptionist",
    llmProviderId: idOf("llm openai"),
    llmModelId: "gpt-6-luna",
    ttsProviderId: idOf("tts edge"),
    ttsModelId: "en-US-AriaNeural",
    sttProviderId: idOf("stt deepgram"),
  };
}

/** The id in a response. */
export function idIn(body: unknown): string {
  return v.parse(v.object({ _id: v.string() }), body)._id;
}
