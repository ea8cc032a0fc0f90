import type {
  AgentFallback,
  AgentFallbacks,
  Category,
  SttFallback,
  VoiceFallback,
} from "../../../storage/records.js";

/** The fallbacks in a request. A list that is left out stays as it is; a given list replaces the stored one. */
export interface FallbacksInput {
  readonly llm?: readonly AgentFallback[] | undefined;
  readonly tts?: readonly (AgentFallback & { readonly speed?: number | undefined })[] | undefined;
  readonly stt?:
    | readonly (Pick<SttFallback, "providerId"> & {
        readonly modelId?: string | null | undefined;
      })[]
    | undefined;
  readonly hedging?: boolean | undefined;
}

export const NO_FALLBACKS: AgentFallbacks = { llm: [], tts: [], stt: [], hedging: false };

/** A TTS fallback without a `speed` gets the agent's speed. */
export function withFallbacks(
  before: AgentFallbacks,
  given: FallbacksInput | undefined,
  speed: number,
): AgentFallbacks {
  return {
    llm: given?.llm?.map(({ providerId, modelId }) => ({ providerId, modelId })) ?? before.llm,
    tts: given?.tts?.map((voice) => voiceOf(voice, speed)) ?? before.tts,
    stt:
      given?.stt?.map(({ providerId, modelId = null }) => ({ providerId, modelId })) ?? before.stt,
    hedging: given?.hedging ?? before.hedging,
  };
}

/** One entry of a fallback chain, with the paths of its fields for error messages. */
export interface FallbackSlot {
  readonly category: Category;
  readonly providerPath: string;
  readonly providerId: string;
  readonly modelPath: string;
  readonly modelId: string | undefined;
}

export function fallbackSlots(
  fallbacks: AgentFallbacks,
  category: Category,
): readonly FallbackSlot[] {
  return fallbacks[category].map(({ providerId, modelId }, index) => {
    const path = `fallbacks.${category}.${index}`;
    return {
      category,
      providerPath: `${path}.providerId`,
      providerId,
      modelPath: `${path}.modelId`,
      modelId: modelId ?? undefined,
    };
  });
}

function voiceOf(
  voice: AgentFallback & { readonly speed?: number | undefined },
  agentSpeed: number,
): VoiceFallback {
  const { providerId, modelId, speed = agentSpeed } = voice;
  return { providerId, modelId, speed };
}
