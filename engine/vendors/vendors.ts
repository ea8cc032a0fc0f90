import { ASSEMBLYAI } from "./assemblyai/assemblyai.js";
import { CARTESIA } from "./cartesia/cartesia.js";
import { DEEPGRAM } from "./deepgram/deepgram.js";
import { EDGE } from "./edge/edge.js";
import { ELEVENLABS } from "./elevenlabs/elevenlabs.js";
import { GROQ } from "./groq/groq.js";
import { OLLAMA } from "./ollama/ollama.js";
import { OPENAI } from "./openai/openai.js";
import { HOSTED_COMPATIBLE, OTHER_COMPATIBLE } from "./openai-compatible/openai-compatible.js";
import type { Vendor } from "./vendor.js";

/** Every vendor that Parley supports. By default an earlier one is preferred to a later one. */
export const VENDORS: readonly Vendor[] = [
  OPENAI,
  GROQ,
  ELEVENLABS,
  CARTESIA,
  DEEPGRAM,
  ASSEMBLYAI,
  ...HOSTED_COMPATIBLE,
  OLLAMA,
  ...OTHER_COMPATIBLE,
  EDGE,
];

const vendorsByKey: ReadonlyMap<string, Vendor> = new Map(VENDORS.map((each) => [each.key, each]));

export function vendorOf(key: string): Vendor | undefined {
  return vendorsByKey.get(key);
}
