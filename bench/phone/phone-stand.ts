import * as v from "valibot";
import type { LoadCallers } from "../load/call-load.js";
import type { Talker } from "../load/conversation.js";
import type { VoiceVendor } from "../load/turn-timing.js";
import { type ServerStand, startRelayStand, type VendorStand } from "../stand/stand.js";
import { phoneCallers } from "./phone-callers.js";
import type { PhoneJitter } from "./phone-jitter.js";

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
  return startRelayStand(vendors, undefined, "phone/phone-relay.js");
}

export function callersOfRelay({ url }: ServerStand, jitter: PhoneJitter): LoadCallers {
  return phoneCallers({ streamUrl: url.replace(/^http/, "ws"), voice: "elevenlabs" }, jitter);
}

/** Servers on one core that know nothing of each other, as one that is measured. */
export async function startServersApart(
  count: number,
  start: () => Promise<ServerStand>,
): Promise<ServerStand> {
  const first = await start();
  const besides: ServerStand[] = [];
  const close = async () => {
    for (const server of [first, ...besides]) await server.close();
  };
  try {
    while (besides.length + 1 < count) besides.push(await start());
  } catch (error) {
    await close();
    throw error;
  }
  return { ...first, besides, close };
}

/** As of one server; each has every so-many-th call. */
export async function callersOfServers(
  servers: readonly ServerStand[],
  voice: VoiceVendor,
  jitter: PhoneJitter,
  extras?: AgentExtras,
): Promise<LoadCallers> {
  const all: LoadCallers[] = [];
  for (const server of servers) all.push(await callersOfServer(server, voice, jitter, extras));
  const [first] = all;
  if (first === undefined) throw new RangeError("there is no server");
  let count = 0;
  const connect = () => {
    const next = all[count % all.length] ?? first;
    count += 1;
    return next.connect();
  };
  return { ...first, connect };
}

/** Fields of an agent beside its vendors, and what is awaited once it is made. */
export interface AgentExtras {
  fields(server: ServerStand): Promise<object>;
  made(server: ServerStand, agentId: string): Promise<void>;
  /** Every other call is with an agent without the fields: group 0 beside group 1. */
  readonly isBesidePlain?: boolean;
}

/** Callers of an agent that is made for them, with this vendor's voice. */
export async function callersOfServer(
  server: ServerStand,
  voice: VoiceVendor,
  jitter: PhoneJitter,
  extras?: AgentExtras,
): Promise<LoadCallers> {
  const agentId = await createAgent(server, voice, false, await extras?.fields(server));
  await extras?.made(server, agentId);
  const able = callersOfAgent(server, agentId, voice, jitter);
  if (extras?.isBesidePlain !== true) return able;
  const plain = callersOfAgent(server, await createAgent(server, voice), voice, jitter);
  let count = 0;
  const connect = async () => {
    const group = count % 2;
    count += 1;
    const talker = await (group === 0 ? plain : able).connect();
    return grouped(talker, group);
  };
  return { ...able, connect };
}

function grouped(talker: Talker, group: number): Talker {
  return {
    group,
    get events() {
      return talker.events;
    },
    say: (phrase) => talker.say(phrase),
    until: (predicate, timeoutMs) => talker.until(predicate, timeoutMs),
    hangUp: () => talker.hangUp(),
  };
}

function callersOfAgent(
  server: ServerStand,
  agentId: string,
  voice: VoiceVendor,
  jitter: PhoneJitter,
): LoadCallers {
  const query = new URLSearchParams({ api_key: server.apiKey, agent_id: agentId });
  const webhookUrl = `${server.url}/api/telephony/voice?${query.toString()}`;
  const { twilioAuthToken: authToken } = server;
  return phoneCallers({ webhookUrl, voice, ...(authToken && { authToken }) }, jitter);
}

/** Resolves with the id of the new agent, which has somebody that stands in for each of its vendors where `hasChains`. */
export async function createAgent(
  server: ServerStand,
  voice: VoiceVendor,
  hasChains = false,
  fields: object = {},
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
    llmModelId: "gpt-6-luna",
    ttsProviderId: idOf("tts", providerKey),
    ttsModelId: modelId,
    sttProviderId: idOf("stt", "deepgram"),
    ...(hasChains ? { fallbacks } : {}),
    ...fields,
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
