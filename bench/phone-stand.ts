import * as v from "valibot";
import type { LoadCallers } from "./call-load.js";
import { phoneCallers } from "./phone-callers.js";
import type { PhoneJitter } from "./phone-jitter.js";
import { type ServerStand, startRelayStand, type VendorStand } from "./stand.js";
import type { VoiceVendor } from "./turn-timing.js";

const Providers = v.array(
  v.object({ _id: v.string(), category: v.string(), providerKey: v.string() }),
);
const Made = v.object({ _id: v.string() });

const SPEECH = {
  openaiSpeech: { providerKey: "openai", modelId: "gpt-4o-mini-tts" },
  elevenlabs: { providerKey: "elevenlabs", modelId: "eleven_flash_v2_5" },
  edge: { providerKey: "edge", modelId: "en-US-AriaNeural" },
} as const;

export function startPhoneRelayStand(vendors: VendorStand): Promise<ServerStand> {
  return startRelayStand(vendors, undefined, "phone-relay.js");
}

export function callersOfRelay({ url }: ServerStand, jitter: PhoneJitter): LoadCallers {
  return phoneCallers({ streamUrl: url.replace(/^http/, "ws"), voice: "elevenlabs" }, jitter);
}

/** Callers of an agent that is made for them, with this vendor's voice. */
export async function callersOfServer(
  server: ServerStand,
  voice: VoiceVendor,
  jitter: PhoneJitter,
): Promise<LoadCallers> {
  const agentId = await createAgent(server, voice);
  const query = new URLSearchParams({ api_key: server.apiKey, agent_id: agentId });
  const webhookUrl = `${server.url}/api/telephony/voice?${query.toString()}`;
  return phoneCallers({ webhookUrl, voice }, jitter);
}

/** Resolves with the id of the new agent, which has somebody that stands in for each of its vendors where `hasChains`. */
export async function createAgent(
  server: ServerStand,
  voice: VoiceVendor,
  hasChains = false,
): Promise<string> {
  const providers = v.parse(Providers, await askServer(server, "/api/dashboard/providers"));
  const idOf = (category: string, providerKey: string) =>
    providers.find((one) => one.category === category && one.providerKey === providerKey)?._id;
  const { providerKey, modelId } = SPEECH[voice];
  const fallbacks = {
    llm: [{ providerId: idOf("llm", "ollama"), modelId: "llama3.2" }],
    tts: [{ providerId: idOf("tts", "edge"), modelId: SPEECH.edge.modelId }],
    stt: [{ providerId: idOf("stt", "deepgram"), modelId: "nova-2" }],
  };
  const agent = {
    name: "Agent",
    llmProviderId: idOf("llm", "openai"),
    llmModelId: "gpt-4o-mini",
    ttsProviderId: idOf("tts", providerKey),
    ttsModelId: modelId,
    sttProviderId: idOf("stt", "deepgram"),
    ...(hasChains ? { fallbacks } : {}),
  };
  return v.parse(Made, await askServer(server, "/api/dashboard/agents", agent))._id;
}

/** Asks the server with the API key; a `body` is posted. */
export async function askServer(
  { url, apiKey }: ServerStand,
  path: string,
  body?: object,
): Promise<unknown> {
  const headers = { "x-api-key": apiKey, "content-type": "application/json" };
  const sent = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  const answer = await fetch(`${url}${path}`, { headers, ...sent });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}
