import { randomUUID } from "node:crypto";
import * as v from "valibot";
import { FaultsPatch } from "../../../engine/sandbox/faults.js";
import type { Sandbox } from "../../../engine/sandbox/sandbox.js";
import type { AttackedServer } from "../attacked-server.js";
import type { HostileLane } from "./hostile-lanes.js";

const Made = v.object({ _id: v.string() });
const ProviderIds = v.array(
  v.object({ _id: v.string(), category: v.string(), providerKey: v.string() }),
);
const HEALTHY = {
  llm: { providerKey: "openai", modelId: "gpt-6-luna" },
  tts: { providerKey: "openai", modelId: "tts-1" },
  stt: { providerKey: "deepgram", modelId: "nova-3" },
} as const;

/** Makes an agent one of whose vendors is that of the lane, at this address, and the others the server's own; gives its id. */
export async function hostileAgent(
  server: AttackedServer,
  lane: HostileLane,
  baseUrl: string,
): Promise<string> {
  const { category, providerKey, modelId } = lane;
  const isKeyless = ["ollama", "edge"].includes(providerKey);
  const provider = await server.read(Made, "POST", "/api/dashboard/providers", {
    body: {
      category,
      providerKey,
      name: `Hostile ${randomUUID()}`,
      models: [{ modelId, label: modelId }],
      settings: { baseUrl },
      ...(isKeyless ? {} : { credentials: { apiKey: "a-key" } }),
    },
  });
  const own = await server.read(ProviderIds, "GET", "/api/dashboard/providers");
  const idOf = (part: keyof typeof HEALTHY) =>
    part === category
      ? provider._id
      : own.find((each) => each.category === part && each.providerKey === HEALTHY[part].providerKey)
          ?._id;
  const modelOf = (part: keyof typeof HEALTHY) =>
    part === category ? modelId : HEALTHY[part].modelId;
  const agent = await server.read(Made, "POST", "/api/dashboard/agents", {
    body: {
      name: `With ${modelId}`,
      llmProviderId: idOf("llm"),
      llmModelId: modelOf("llm"),
      ttsProviderId: idOf("tts"),
      ttsModelId: modelOf("tts"),
      sttProviderId: idOf("stt"),
      // Whatever is heard is an answer to what was said.
      persona: { greeting: "" },
      thresholds: { endpointingMs: 100, fillerAfterMs: 0, idleTimeoutMs: 0 },
    },
  });
  return agent._id;
}

/** By the sandbox's desk, as another process would. */
export async function spoil(
  { urls }: Sandbox,
  { vendor }: HostileLane,
  fault: string | undefined,
): Promise<void> {
  const patch = v.parse(FaultsPatch, { [vendor]: fault === undefined ? {} : { fault } });
  const body = JSON.stringify(patch);
  const { status } = await fetch(`${urls.desk}/faults`, { method: "PUT", body });
  if (status !== 200) throw new Error(`the sandbox refused the fault with ${status}`);
}
