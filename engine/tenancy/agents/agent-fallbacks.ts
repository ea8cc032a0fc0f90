import type {
  AgentFallback,
  AgentFallbacks,
  Category,
  SttFallback,
  VoiceFallback,
} from "../../../storage/records.js";

/** As its author gives them: a list that is left out stays as it is, one that is given replaces the former. */
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

/** A voice that is given no speed speaks at the agent's. */
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

/** One place in a chain, with what the fields are called that fill it. */
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
