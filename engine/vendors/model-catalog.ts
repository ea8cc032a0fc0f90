import type { Category } from "../../storage/records.js";
import type { ListenOptions } from "./contracts.js";
import { primaryLanguage } from "./spoken-language.js";

/** The standard plans, smallest first; a model is in its own plan and in every larger one. */
export const PLAN_TIERS = ["free", "starter", "pro", "enterprise"] as const;
export type PlanTier = (typeof PLAN_TIERS)[number];

/** How long a model reasons before it answers, shortest first. */
export const REASONING_EFFORTS = [
  "none",
  "minimal",
  "low",
  "medium",
  "high",
  "xhigh",
  "max",
] as const;
export type ReasoningEffort = (typeof REASONING_EFFORTS)[number];

/** The parameters of an LLM that differ between models. */
export interface LanguageAbilities {
  /** The name of the limit on a reply's tokens. */
  readonly limit: "max_tokens" | "max_completion_tokens";
  readonly temperature: "always" | "never" | "withoutReasoning";
  /** Undefined: the model has no effort parameter. */
  readonly reasoning?: {
    readonly efforts: readonly ReasoningEffort[];
    /** The default for a voice agent, unless its provider sets another. */
    readonly usual: ReasoningEffort;
    /** The only effort with which the model accepts tools. */
    readonly withTools?: ReasoningEffort;
  };
  /** The model reasons although it has no effort parameter: its reasoning counts against the limit. */
  readonly thinks?: true;
  /** Parameters that only some models accept, as they are sent. */
  readonly fixed?: Readonly<Record<string, unknown>>;
  /** The model refuses its own tool calls if they come back without their signature. */
  readonly signsToolCalls?: true;
}

/** The parameters of a TTS model that differ between models. */
export interface SpeechAbilities {
  readonly language?: boolean;
  readonly instructions?: boolean;
  readonly speed?: boolean;
  readonly volume?: boolean;
}

/** `any`: the vendor lists a hundred languages, or all. */
export type DetectedLanguages = "any" | readonly string[];

/** One model as its vendor described it on the day of `checkedOn`, in `source`. */
export interface CatalogRow {
  readonly vendor: string;
  readonly category: Category;
  readonly modelId: string;
  readonly label: string;
  readonly description?: string;
  /** Undefined: known to the server, but not offered to new agents. */
  readonly plan?: PlanTier;
  /** STT with turn detection; see `SpeechListener.onTurn`. */
  readonly hasTurnDetection?: true;
  /** Whether an STT takes names and terms that are likely to be said. */
  readonly takesKeyterms?: boolean;
  /** The languages that an STT tells apart within a call, by the first part of their tags; omitted if none. */
  readonly detectsLanguages?: DetectedLanguages;
  /** The first day on which the vendor no longer serves the model, UTC. */
  readonly retiresOn?: string;
  /** The vendor advises against it without having named a date. */
  readonly isDeprecated?: true;
  /** The recommended replacement, of the same vendor. */
  readonly successor?: string;
  readonly language?: LanguageAbilities;
  readonly speech?: SpeechAbilities;
  readonly checkedOn: string;
  readonly source: string;
}

type Details = Omit<
  CatalogRow,
  "vendor" | "category" | "modelId" | "label" | "checkedOn" | "source"
>;
type Row = readonly [
  modelId: string,
  label: string,
  details?: Details & { readonly source?: string },
];

function rowsOf(
  vendor: string,
  category: Category,
  checked: { readonly checkedOn: string; readonly source: string },
  rows: readonly Row[],
  language?: LanguageAbilities,
): readonly CatalogRow[] {
  return rows.map(([modelId, label, details = {}]) => ({
    vendor,
    category,
    modelId,
    label,
    ...(language && { language }),
    ...checked,
    ...details,
  }));
}

const CHECKED_ON = "2026-11-26";
const checkedAt = (source: string) => ({ checkedOn: CHECKED_ON, source });

const SPEAKS_ONLY: LanguageAbilities = { limit: "max_completion_tokens", temperature: "always" };
/** gpt-5 and the o series: they always reason, and accept no temperature. */
const THINKS_ALWAYS: LanguageAbilities = {
  limit: "max_completion_tokens",
  temperature: "never",
  reasoning: { efforts: ["minimal", "low", "medium", "high"], usual: "low" },
};
const O_SERIES: LanguageAbilities = {
  limit: "max_completion_tokens",
  temperature: "never",
  reasoning: { efforts: ["low", "medium", "high"], usual: "low" },
};
/** From gpt-5.1 on reasoning can be switched off, and only then is a temperature accepted. */
const MAY_NOT_THINK: LanguageAbilities = {
  limit: "max_completion_tokens",
  temperature: "withoutReasoning",
  reasoning: { efforts: ["none", "low", "medium", "high"], usual: "none" },
};
/** From gpt-5.2 on Chat Completions accepts tools only if the model does not reason. */
const NO_TOOLS_WHILE_THINKING: LanguageAbilities = {
  ...MAY_NOT_THINK,
  reasoning: {
    efforts: ["none", "low", "medium", "high", "xhigh"],
    usual: "none",
    withTools: "none",
  },
};
const GPT_6: LanguageAbilities = {
  ...MAY_NOT_THINK,
  reasoning: {
    efforts: ["none", "low", "medium", "high", "xhigh", "max"],
    usual: "none",
    withTools: "none",
  },
};
const GPT_6_2: LanguageAbilities = {
  limit: "max_completion_tokens",
  temperature: "never",
  reasoning: { efforts: ["low", "medium", "high", "xhigh", "max"], usual: "low" },
};

const GPT_4_END = { retiresOn: "2027-01-14", successor: "gpt-6-luna", language: SPEAKS_ONLY };
const GPT_5_END = { retiresOn: "2026-12-11", successor: "gpt-6-luna" };

const OPENAI_CHAT = rowsOf(
  "openai",
  "llm",
  checkedAt("https://developers.openai.com/api/docs/guides/deployment-checklist"),
  [
    ["gpt-6-luna", "GPT-6 Luna", { plan: "free" }],
    ["gpt-5.6-luna", "GPT-5.6 Luna", { plan: "starter" }],
    ["gpt-6-sol", "GPT-6 Sol", { plan: "pro" }],
    ["gpt-5.6-sol", "GPT-5.6 Sol", { plan: "enterprise" }],
    ["gpt-6", "GPT-6"],
    ["gpt-6-astra", "GPT-6 Astra"],
    ["gpt-6.2", "GPT-6.2", { language: GPT_6_2 }],
    ["gpt-5.6", "GPT-5.6"],
    ["gpt-5.6-terra", "GPT-5.6 Terra"],
    ["gpt-5.5", "GPT-5.5", { language: NO_TOOLS_WHILE_THINKING }],
    ["gpt-5.4", "GPT-5.4", { language: NO_TOOLS_WHILE_THINKING }],
    ["gpt-5.4-mini", "GPT-5.4 mini", { language: NO_TOOLS_WHILE_THINKING }],
    ["gpt-5.4-nano", "GPT-5.4 nano", { language: NO_TOOLS_WHILE_THINKING }],
    ["gpt-5.2", "GPT-5.2", { language: NO_TOOLS_WHILE_THINKING }],
    ["gpt-5.1", "GPT-5.1", { language: MAY_NOT_THINK }],
    ["gpt-5-chat-latest", "GPT-5 Chat", { language: SPEAKS_ONLY }],
    ["gpt-5", "GPT-5", { ...GPT_5_END, language: THINKS_ALWAYS }],
    ["gpt-5-mini", "GPT-5 mini", { ...GPT_5_END, language: THINKS_ALWAYS }],
    ["gpt-5-nano", "GPT-5 nano", { ...GPT_5_END, language: THINKS_ALWAYS }],
    ["o3", "o3", { ...GPT_5_END, language: O_SERIES }],
    ["o3-mini", "o3-mini", { language: O_SERIES }],
    ["o4-mini", "o4-mini", { language: O_SERIES }],
    ["o1", "o1", { language: O_SERIES }],
    ["gpt-4o", "GPT-4o", GPT_4_END],
    ["gpt-4o-mini", "GPT-4o mini", GPT_4_END],
    ["gpt-4.1", "GPT-4.1", GPT_4_END],
    ["gpt-4.1-mini", "GPT-4.1 mini", GPT_4_END],
    ["gpt-4.1-nano", "GPT-4.1 nano", GPT_4_END],
  ],
  GPT_6,
);

const GPT_OSS: LanguageAbilities = {
  limit: "max_completion_tokens",
  temperature: "always",
  reasoning: { efforts: ["low", "medium", "high"], usual: "low" },
};
/** Otherwise their reasoning would be part of the reply and be spoken. */
const THINKS_ALOUD: LanguageAbilities = {
  limit: "max_completion_tokens",
  temperature: "always",
  thinks: true,
  fixed: { reasoning_format: "hidden" },
};
const LLAMA_END = {
  retiresOn: "2026-08-16",
  successor: "openai/gpt-oss-20b",
  language: SPEAKS_ONLY,
};

const GROQ_CHAT = rowsOf(
  "groq",
  "llm",
  checkedAt("https://console.groq.com/docs/deprecations"),
  [
    ["openai/gpt-oss-20b", "GPT-OSS 20B", { description: "Fastest answers", plan: "free" }],
    ["openai/gpt-oss-120b", "GPT-OSS 120B", { plan: "starter" }],
    ["qwen/qwen3-32b", "Qwen3 32B", { language: THINKS_ALOUD }],
    ["qwen-qwq-32b", "QwQ 32B", { language: THINKS_ALOUD }],
    ["deepseek-r1-distill-llama-70b", "DeepSeek R1 70B", { language: THINKS_ALOUD }],
    ["llama-3.1-8b-instant", "Llama 3.1 8B", LLAMA_END],
    ["llama-3.3-70b-versatile", "Llama 3.3 70B", LLAMA_END],
  ],
  GPT_OSS,
);

const GEMINI_LITE: LanguageAbilities = { limit: "max_tokens", temperature: "always" };
const GEMINI_2_5_FLASH: LanguageAbilities = {
  limit: "max_tokens",
  temperature: "always",
  reasoning: { efforts: ["none", "low", "medium", "high"], usual: "none" },
};
const GEMINI_2_5_PRO: LanguageAbilities = {
  limit: "max_tokens",
  temperature: "always",
  reasoning: { efforts: ["low", "medium", "high"], usual: "low" },
};
/**
 * They always reason, sign their tool calls, and were made for a temperature of 1; from 3.6 on it is ignored,
 * later refused.
 */
const GEMINI_3: LanguageAbilities = {
  limit: "max_tokens",
  temperature: "never",
  reasoning: { efforts: ["minimal", "low", "medium", "high"], usual: "low" },
  signsToolCalls: true,
};
const GEMINI_3_QUICK: LanguageAbilities = {
  ...GEMINI_3,
  reasoning: { efforts: ["minimal", "low", "medium", "high"], usual: "minimal" },
};

const GEMINI_CHAT = rowsOf(
  "gemini",
  "llm",
  checkedAt("https://ai.google.dev/gemini-api/docs/changelog"),
  [
    ["gemini-3.5-flash-lite", "Gemini 3.5 Flash-Lite", { plan: "free", language: GEMINI_3_QUICK }],
    ["gemini-3.6-flash", "Gemini 3.6 Flash", { plan: "starter", language: GEMINI_3_QUICK }],
    ["gemini-3.7-flash", "Gemini 3.7 Flash"],
    ["gemini-3.5-flash", "Gemini 3.5 Flash"],
    ["gemini-3.1-flash-lite", "Gemini 3.1 Flash-Lite"],
    ["gemini-3.1-pro-preview", "Gemini 3.1 Pro"],
    ["gemini-3-flash-preview", "Gemini 3 Flash"],
    ["gemini-flash-latest", "Gemini Flash, latest"],
    ["gemini-pro-latest", "Gemini Pro, latest"],
    ["gemini-2.5-pro", "Gemini 2.5 Pro", { language: GEMINI_2_5_PRO }],
    [
      "gemini-2.5-flash",
      "Gemini 2.5 Flash",
      { retiresOn: "2026-12-01", successor: "gemini-3.6-flash", language: GEMINI_2_5_FLASH },
    ],
    [
      "gemini-2.0-flash",
      "Gemini 2.0 Flash",
      { retiresOn: "2026-06-01", successor: "gemini-3.6-flash", language: GEMINI_LITE },
    ],
    [
      "gemini-2.5-flash-lite",
      "Gemini 2.5 Flash-Lite",
      { isDeprecated: true, successor: "gemini-3.5-flash-lite", language: GEMINI_LITE },
    ],
  ],
  GEMINI_3,
);

const CLAUDE_4: LanguageAbilities = { limit: "max_tokens", temperature: "always" };
const CLAUDE_5: LanguageAbilities = { limit: "max_tokens", temperature: "never", thinks: true };

const ANTHROPIC_CHAT = rowsOf(
  "anthropic",
  "llm",
  checkedAt("https://docs.claude.com/en/docs/about-claude/model-deprecations"),
  [
    ["claude-haiku-4-5", "Claude Haiku 4.5", { plan: "starter" }],
    ["claude-sonnet-5", "Claude Sonnet 5", { plan: "enterprise", language: CLAUDE_5 }],
    [
      "claude-sonnet-4-5",
      "Claude Sonnet 4.5",
      { isDeprecated: true, successor: "claude-sonnet-5" },
    ],
  ],
  CLAUDE_4,
);

const TOLERANT: LanguageAbilities = { limit: "max_tokens", temperature: "always" };

const MISTRAL_CHAT = rowsOf(
  "mistral",
  "llm",
  checkedAt("https://docs.mistral.ai/getting-started/models"),
  [
    ["mistral-small-latest", "Mistral Small", { plan: "free" }],
    ["mistral-medium-latest", "Mistral Medium", { plan: "pro" }],
  ],
  TOLERANT,
);

const OPENROUTER_CHAT = rowsOf(
  "openrouter",
  "llm",
  checkedAt("https://openrouter.ai/docs/features/tool-calling"),
  [
    [
      "openai/gpt-6-luna",
      "GPT-6 Luna",
      { plan: "starter", language: { ...GPT_6, limit: "max_tokens" } },
    ],
    [
      "google/gemini-3.6-flash",
      "Gemini 3.6 Flash",
      // OpenRouter signs in a field of its own, which is returned unchanged.
      { plan: "starter", language: withoutSignatures(GEMINI_3_QUICK) },
    ],
    ["anthropic/claude-haiku-4.5", "Claude Haiku 4.5", { plan: "pro" }],
    [
      "openai/gpt-4o-mini",
      "GPT-4o mini",
      { retiresOn: "2027-01-14", successor: "openai/gpt-6-luna" },
    ],
    [
      "google/gemini-2.5-flash",
      "Gemini 2.5 Flash",
      { retiresOn: "2026-12-01", successor: "google/gemini-3.6-flash" },
    ],
  ],
  TOLERANT,
);

const OLLAMA_CHAT = rowsOf("ollama", "llm", checkedAt("https://ollama.com/search?c=tools"), [
  ["llama3.2", "Llama 3.2 3B", { description: "Runs on a laptop", plan: "free" }],
  ["llama3.1", "Llama 3.1 8B", { plan: "free" }],
  ["qwen2.5", "Qwen 2.5 7B", { plan: "free" }],
]);

/** No model of `/v1/audio/speech` follows them: an agent that uses one needs another voice by then. */
const OPENAI_SPEECH_END = { retiresOn: "2027-01-06" };
const NO_DIRECTIONS: SpeechAbilities = { instructions: false };

const OPENAI_SPEECH = rowsOf(
  "openai",
  "tts",
  checkedAt("https://developers.openai.com/api/docs/guides/text-to-speech"),
  [
    ["gpt-4o-mini-tts", "GPT-4o mini TTS", { ...OPENAI_SPEECH_END, plan: "starter" }],
    [
      "tts-1",
      "TTS 1",
      {
        ...OPENAI_SPEECH_END,
        description: "Lower delay",
        plan: "free",
        speech: NO_DIRECTIONS,
      },
    ],
    ["tts-1-hd", "TTS 1 HD", { ...OPENAI_SPEECH_END, plan: "pro", speech: NO_DIRECTIONS }],
  ],
);

const ELEVENLABS_SPEECH = rowsOf(
  "elevenlabs",
  "tts",
  checkedAt("https://elevenlabs.io/docs/overview/models"),
  [
    [
      "eleven_flash_v2_5",
      "Flash v2.5",
      { description: "Lowest delay", plan: "starter", speech: { language: true } },
    ],
    ["eleven_multilingual_v2", "Multilingual v2", { plan: "pro", speech: { language: false } }],
    ["eleven_v3", "Eleven v3", { speech: { language: true } }],
    [
      "eleven_turbo_v2_5",
      "Turbo v2.5",
      { isDeprecated: true, successor: "eleven_flash_v2_5", speech: { language: true } },
    ],
  ],
);

const CARTESIA_SPEECH = rowsOf(
  "cartesia",
  "tts",
  checkedAt("https://docs.cartesia.ai/build-with-cartesia/tts-models/latest"),
  [
    ["sonic-3.6", "Sonic 3.6", { description: "Lowest delay", plan: "starter" }],
    // The vendor has switched off speed and volume for now.
    ["sonic-3.5", "Sonic 3.5", { plan: "starter", speech: { speed: false, volume: false } }],
    ["sonic-3", "Sonic 3", { plan: "starter" }],
  ],
);

const DEEPGRAM_SPEECH = rowsOf(
  "deepgram",
  "tts",
  checkedAt("https://developers.deepgram.com/docs/tts-models"),
  [
    ["aura-2-thalia-en", "Thalia (English)", { plan: "starter" }],
    ["aura-2-apollo-en", "Apollo (English)", { plan: "starter" }],
    ["aura-2-celeste-es", "Celeste (Spanish)", { plan: "starter" }],
  ],
);

const DECIDES_TURNS = {
  description: "Detects the end of the caller's turn itself",
  plan: "free",
  hasTurnDetection: true,
  takesKeyterms: true,
} as const;

/** https://developers.deepgram.com/docs/nova-3-language-prompting */
const NOVA_3_LANGUAGES = (
  "af ar be bn bs bg ca zh hr cs da nl en et fi fr gl de el gu he hi hu id it ja kn ko lv lt mk ms mr no fa pl pt " +
  "ro ru sr sk sl es sv tl ta te th tr uk vi xh zu"
).split(" ");
/** https://developers.deepgram.com/docs/flux/language-prompting */
const FLUX_LANGUAGES = "en es fr de hi ru pt ja it nl".split(" ");
/** https://www.assemblyai.com/docs/streaming/multilingual-transcription */
const ASSEMBLYAI_LANGUAGES = "en es fr de it pt".split(" ");

const DEEPGRAM_STT = rowsOf(
  "deepgram",
  "stt",
  checkedAt("https://developers.deepgram.com/changelog"),
  [
    ["nova-3", "Nova 3", { plan: "free", takesKeyterms: true, detectsLanguages: NOVA_3_LANGUAGES }],
    ["nova-2", "Nova 2", { plan: "free", takesKeyterms: false, detectsLanguages: ["en", "es"] }],
    ["flux-general-en", "Flux (English)", DECIDES_TURNS],
    [
      "flux-general-multi",
      "Flux (multilingual)",
      { ...DECIDES_TURNS, detectsLanguages: FLUX_LANGUAGES },
    ],
  ],
);

const ASSEMBLYAI_MULTILINGUAL = { ...DECIDES_TURNS, detectsLanguages: ASSEMBLYAI_LANGUAGES };

const ASSEMBLYAI_STT = rowsOf(
  "assemblyai",
  "stt",
  checkedAt("https://www.assemblyai.com/docs/streaming/select-the-speech-model"),
  [
    ["universal-3-6-pro", "Universal 3.6 Pro", ASSEMBLYAI_MULTILINGUAL],
    ["universal-streaming-english", "Universal Streaming (English)", DECIDES_TURNS],
    [
      "universal-streaming-multilingual",
      "Universal Streaming (multilingual)",
      ASSEMBLYAI_MULTILINGUAL,
    ],
    ["universal-3-5-pro", "Universal 3.5 Pro", ASSEMBLYAI_MULTILINGUAL],
  ],
);

const WHISPER_STT = rowsOf("whisper", "stt", checkedAt("https://huggingface.co/Systran"), [
  ["Systran/faster-whisper-small", "Whisper small", { plan: "free" }],
  ["Systran/faster-whisper-large-v3", "Whisper large v3", { plan: "free" }],
]);

const KOKORO_SPEECH = rowsOf(
  "kokoro",
  "tts",
  checkedAt("https://huggingface.co/hexgrad/Kokoro-82M"),
  [["kokoro", "Kokoro", { plan: "free" }]],
);

const EDGE_SPEECH = rowsOf(
  "edge",
  "tts",
  checkedAt("https://learn.microsoft.com/azure/ai-services/speech-service/language-support"),
  [
    ["en-US-AriaNeural", "Aria (English, US)", { plan: "free" }],
    ["en-US-GuyNeural", "Guy (English, US)", { plan: "free" }],
    ["en-GB-SoniaNeural", "Sonia (English, UK)", { plan: "free" }],
    ["de-DE-KatjaNeural", "Katja (German)", { plan: "free" }],
    ["es-ES-ElviraNeural", "Elvira (Spanish)", { plan: "free" }],
    ["fr-FR-DeniseNeural", "Denise (French)", { plan: "free" }],
  ],
);

/**
 * Every model that the server knows, in the order in which it is offered. This is the only place for a model's
 * parameters, end date and successor. A model that is not listed gets its vendor's `UNKNOWN`, and its refusals are
 * learned.
 */
export const MODEL_CATALOG: readonly CatalogRow[] = [
  ...OPENAI_CHAT,
  ...GROQ_CHAT,
  ...ANTHROPIC_CHAT,
  ...GEMINI_CHAT,
  ...MISTRAL_CHAT,
  ...OPENROUTER_CHAT,
  ...OLLAMA_CHAT,
  ...OPENAI_SPEECH,
  ...ELEVENLABS_SPEECH,
  ...CARTESIA_SPEECH,
  ...DEEPGRAM_SPEECH,
  ...KOKORO_SPEECH,
  ...EDGE_SPEECH,
  ...DEEPGRAM_STT,
  ...ASSEMBLYAI_STT,
  ...WHISPER_STT,
];

/** What a vendor's newest models have in common, for a model that is not in the catalog. */
const UNKNOWN: Readonly<Record<string, LanguageAbilities>> = {
  // No temperature and no reasoning: every current model accepts the second or names it when it refuses.
  openai: { ...GPT_6, temperature: "never" },
  groq: SPEAKS_ONLY,
  gemini: GEMINI_3,
  anthropic: CLAUDE_5,
};

/** Vendors that may serve any other vendor's models under their original names. */
const GATEWAYS: ReadonlySet<string> = new Set(["openai-compatible"]);

const rowsByName: ReadonlyMap<string, CatalogRow> = new Map(
  MODEL_CATALOG.map((row) => [nameOf(row.vendor, row.category, row.modelId), row]),
);
const languageRowsById: ReadonlyMap<string, CatalogRow> = new Map(
  [...OPENAI_CHAT, ...ANTHROPIC_CHAT, ...GEMINI_CHAT].map((row) => [row.modelId, row]),
);

/** The model's row; a dated snapshot or a fine-tuned model has the row of its base model. */
export function catalogRow(
  vendor: string,
  category: Category,
  modelId: string,
): CatalogRow | undefined {
  for (const id of idsOf(modelId)) {
    const row = rowsByName.get(nameOf(vendor, category, id));
    if (row !== undefined) return row;
  }
  return undefined;
}

export interface KnownAbilities extends LanguageAbilities {
  /** False: the vendor's defaults, which may be wrong. */
  readonly isKnown: boolean;
}

export function languageAbilities(vendor: string, modelId: string): KnownAbilities {
  const own = catalogRow(vendor, "llm", modelId)?.language;
  if (own !== undefined) return { ...own, isKnown: true };
  const behind = gatewayRow(vendor, modelId)?.language;
  if (behind !== undefined) return { ...withoutSignatures(behind), isKnown: true };
  return { ...(UNKNOWN[vendor] ?? TOLERANT), isKnown: false };
}

export function speechAbilities(vendor: string, modelId: string): SpeechAbilities {
  return catalogRow(vendor, "tts", modelId)?.speech ?? {};
}

/** Vendors whose models detect the language of each utterance, except those that know only English. */
const WHISPERS: ReadonlySet<string> = new Set(["whisper"]);
const ENGLISH_ONLY = /\.en$/;

/** The languages that the STT model tells apart within a call; undefined if it cannot, or is unknown. */
export function detectedLanguages(vendor: string, modelId: string): DetectedLanguages | undefined {
  const known = catalogRow(vendor, "stt", modelId)?.detectsLanguages;
  if (known !== undefined) return known;
  return WHISPERS.has(vendor) && !ENGLISH_ONLY.test(modelId) ? "any" : undefined;
}

/**
 * The call's languages that the STT model tells apart, its own first. Empty if the model cannot detect the call's own
 * language, which a detection would mistake for another one.
 */
export function languagesToDetect(
  vendor: string,
  {
    modelId,
    language,
    otherLanguages = [],
  }: Pick<ListenOptions, "modelId" | "language" | "otherLanguages">,
): readonly string[] {
  const known = detectedLanguages(vendor, modelId);
  const isKnown = (tag: string) =>
    known === "any" || known?.includes(primaryLanguage(tag)) === true;
  return isKnown(language) ? [language, ...otherLanguages.filter(isKnown)] : [];
}

/** The offered models that do, as vendor and model; `whisper` stands for all of its models. */
export function modelsThatDetectLanguages(): readonly string[] {
  const named = MODEL_CATALOG.filter(
    ({ detectsLanguages, plan }) => detectsLanguages !== undefined && plan !== undefined,
  ).map(({ vendor, modelId }) => `${vendor}/${modelId}`);
  return [...named, ...WHISPERS];
}

/** The offered models, in the order of the catalog. */
export function offeredModels(vendor: string, category: Category) {
  return MODEL_CATALOG.flatMap((row) => {
    const { modelId, label, description, plan, hasTurnDetection } = row;
    if (row.vendor !== vendor || row.category !== category || plan === undefined) return [];
    return [
      {
        modelId,
        label,
        ...(description && { description }),
        plan,
        ...(hasTurnDetection && { hasTurnDetection }),
      },
    ];
  });
}

/** The notice starts this long before: time for a pilot with the successor. */
const NOTICE_DAYS = 90;
const DAY_MS = 86_400_000;

export type ModelStage = "current" | "deprecated" | "retiresSoon" | "retired";

export interface ModelNotice {
  readonly stage: Exclude<ModelStage, "current">;
  /** `YYYY-MM-DD`; null if the vendor has named no date. */
  readonly retiresOn: string | null;
  readonly successor: string | null;
}

/** What users should know before they rely on the model; undefined if there is nothing. */
export function modelNotice(
  vendor: string,
  category: Category,
  modelId: string,
  nowMs: number,
): ModelNotice | undefined {
  const row = catalogRow(vendor, category, modelId);
  if (row === undefined) return undefined;
  const stage = stageOf(row, nowMs);
  if (stage === "current") return undefined;
  return { stage, retiresOn: row.retiresOn ?? null, successor: row.successor ?? null };
}

function stageOf({ retiresOn, isDeprecated }: CatalogRow, nowMs: number): ModelStage {
  const leftMs = retiresOn === undefined ? undefined : Date.parse(`${retiresOn}T00:00:00Z`) - nowMs;
  if (leftMs !== undefined && leftMs <= 0) return "retired";
  if (leftMs !== undefined && leftMs <= NOTICE_DAYS * DAY_MS) return "retiresSoon";
  return isDeprecated === true ? "deprecated" : "current";
}

/** How long ago the newest row was compared with its vendor's documents. */
export function catalogAgeDays(nowMs: number): number {
  const newestMs = Math.max(...MODEL_CATALOG.map(({ checkedOn }) => Date.parse(checkedOn)));
  return Math.floor((nowMs - newestMs) / DAY_MS);
}

/** Sort order: current models, then those that will be retired, then retired ones. */
export function byModelStage(one: ModelNotice | undefined, other: ModelNotice | undefined): number {
  return STAGES.indexOf(one?.stage ?? "current") - STAGES.indexOf(other?.stage ?? "current");
}

const STAGES: readonly ModelStage[] = ["current", "deprecated", "retiresSoon", "retired"];

/** Suffixes that mark a dated snapshot of a model: `-2026-03-05`, `-20260305`, `-preview-09-2025`, `-001`. */
const SNAPSHOT = /-(?:\d{4}-\d\d-\d\d|\d{8}|preview-\d\d-\d{4}|\d{3})$/;
/** Google's long form of a name. */
const LONG_FORM = /^models\//;

function idsOf(modelId: string): readonly string[] {
  const [prefix, base] = modelId.split(":");
  const id = (prefix === "ft" && base !== undefined ? base : modelId).replace(LONG_FORM, "");
  return [modelId, id, id.replace(SNAPSHOT, "")];
}

function gatewayRow(vendor: string, modelId: string): CatalogRow | undefined {
  if (!GATEWAYS.has(vendor)) return undefined;
  const bare = modelId.slice(modelId.lastIndexOf("/") + 1);
  for (const id of idsOf(bare)) {
    const row = languageRowsById.get(id);
    if (row !== undefined) return row;
  }
  return undefined;
}

function nameOf(vendor: string, category: Category, modelId: string): string {
  return `${category} ${vendor}/${modelId}`;
}

function withoutSignatures({ signsToolCalls: _signs, ...others }: LanguageAbilities) {
  return others;
}
