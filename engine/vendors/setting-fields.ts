import * as v from "valibot";
import type { Category, JsonObject } from "../../storage/records.js";
import type { FieldFault } from "../failure.js";

// Every message says what is expected: it is read by whoever writes a provider, and by the operator when a call fails.

export const HTTP_PROTOCOLS = ["http:", "https:"] as const;
export const WEB_SOCKET_PROTOCOLS = ["ws:", "wss:"] as const;

/** Longer than the name of any voice. */
const NAME_CHARACTERS_MAX = 200;
const INSTRUCTIONS_CHARACTERS_MAX = 4_096;
/** The vendor refuses less; more is longer than anybody waits. */
const UTTERANCE_END_MIN_MS = 1_000;
const UTTERANCE_END_MAX_MS = 5_000;
/** Shorter ones have been seen to fire in the middle of speech; the call has its own, shorter timer for silence. */
const UTTERANCE_END_MS = 1_500;
const CONTEXT_TOKENS_MIN = 256;
/** Ten times what the largest model takes. */
const CONTEXT_TOKENS_MAX = 10_000_000;
const DURATION = /^-?(?:\d+(?:\.\d+)?(?:ms|s|m|h))+$/;
const DURATION_WORDS = 'a duration such as "10m", or a number of seconds';
/** What a header can carry. */
const HEADER_TEXT = /^[\x20-\x7e]+$/;
const MP3_FORMATS = ["audio-24khz-48kbitrate-mono-mp3", "audio-24khz-96kbitrate-mono-mp3"] as const;

export const DEEPGRAM_FIELDS = {
  utteranceEndMs: v.optional(
    wholeNumber(UTTERANCE_END_MIN_MS, UTTERANCE_END_MAX_MS),
    UTTERANCE_END_MS,
  ),
};

export const OLLAMA_FIELDS = {
  /** How long the model stays in memory after a reply, in Ollama's notation; unloading costs the next caller seconds. */
  keepAlive: v.optional(
    v.union([text(DURATION, DURATION_WORDS), v.number()], `expected ${DURATION_WORDS}`),
    "10m",
  ),
  contextTokens: v.optional(wholeNumber(CONTEXT_TOKENS_MIN, CONTEXT_TOKENS_MAX)),
};

export const OPENAI_FIELDS = {
  reasoningEffort: v.optional(choice(["none", "minimal", "low", "medium", "high"]), "low"),
};

/** The service changes what it expects now and then, so every constant of it can be set. */
export const EDGE_FIELDS = {
  voice: v.optional(name()),
  pitch: v.optional(text(/^[+-]\d{1,4}Hz$/, "a pitch such as +10Hz"), "+0Hz"),
  volume: v.optional(text(/^[+-]\d{1,3}%$/, "a volume such as -20%"), "+0%"),
  /** Only these of its formats are MPEG audio at 24 kHz. */
  outputFormat: v.optional(choice(MP3_FORMATS), MP3_FORMATS[0]),
  /** Public, and the same in every browser. */
  trustedClientToken: v.optional(header(), "6A5AA1D4EAFF4E9FB37E23D68491D6F4"),
  secMsGecVersion: v.optional(
    text(/^1-\d+\.[\d.]+$/, "a version such as 1-143.0.3650.75"),
    "1-143.0.3650.75",
  ),
  userAgent: v.optional(header()),
  origin: v.optional(header(), "chrome-extension://jdiccldimpdaibmpdkjnbmckianbfold"),
};

const share = v.optional(numberFrom(0, 1));

export const ELEVENLABS_FIELDS = {
  /** A voice that every account has. */
  voiceId: v.optional(
    text(/^[\x20-\x7e]{1,200}$/, "an id of 1 to 200 printable ASCII characters"),
    "21m00Tcm4TlvDq8ikWAM",
  ),
  stability: share,
  similarityBoost: share,
  style: share,
};

export const OPENAI_SPEECH_FIELDS = {
  voice: v.optional(name(), "alloy"),
  /** How to speak, for models that take directions (not tts-1 and tts-1-hd). */
  instructions: v.optional(
    v.pipe(
      v.string(textUpTo(INSTRUCTIONS_CHARACTERS_MAX)),
      v.maxLength(INSTRUCTIONS_CHARACTERS_MAX, textUpTo(INSTRUCTIONS_CHARACTERS_MAX)),
    ),
  ),
};

interface VendorFields {
  readonly entries: v.ObjectEntries;
  /** The protocols that the vendor's base URL may have. */
  readonly protocols: readonly string[];
}

/** What the settings of each vendor may hold; its client reads them by the same fields. */
export const VENDOR_FIELDS = {
  llm: {
    ollama: { entries: OLLAMA_FIELDS, protocols: HTTP_PROTOCOLS },
    groq: { entries: {}, protocols: HTTP_PROTOCOLS },
    openai: { entries: OPENAI_FIELDS, protocols: HTTP_PROTOCOLS },
  },
  tts: {
    edge: { entries: EDGE_FIELDS, protocols: WEB_SOCKET_PROTOCOLS },
    elevenlabs: { entries: ELEVENLABS_FIELDS, protocols: HTTP_PROTOCOLS },
    openai: { entries: OPENAI_SPEECH_FIELDS, protocols: HTTP_PROTOCOLS },
  },
  stt: {
    deepgram: { entries: DEEPGRAM_FIELDS, protocols: WEB_SOCKET_PROTOCOLS },
  },
} as const satisfies Record<Category, Record<string, VendorFields>>;

/** The settings that the vendor's client would refuse, each with what is expected. Those that it does not know are left alone. */
export function vendorSettingFaults(
  category: Category,
  providerKey: string,
  settings: JsonObject,
): readonly FieldFault[] {
  const known = new Map<string, VendorFields>(Object.entries(VENDOR_FIELDS[category]));
  const { entries, protocols } = known.get(providerKey) ?? { entries: {}, protocols: [] };
  const schema = v.object({ ...entries, baseUrl: v.optional(address(protocols)) });
  const parsed = v.safeParse(schema, settings, { abortPipeEarly: true });
  const issues = parsed.issues ?? [];
  return issues.map((issue) => ({ path: v.getDotPath(issue) ?? "", message: issue.message }));
}

function numberFrom(min: number, max: number) {
  const expected = `expected a number from ${min} to ${max}`;
  return v.pipe(v.number(expected), v.minValue(min, expected), v.maxValue(max, expected));
}

function wholeNumber(min: number, max: number) {
  const expected = `expected a whole number from ${min} to ${max}`;
  return v.pipe(
    v.number(expected),
    v.integer(expected),
    v.minValue(min, expected),
    v.maxValue(max, expected),
  );
}

function choice<const Options extends readonly [string, ...string[]]>(options: Options) {
  return v.picklist(options, `expected one of ${options.join(", ")}`);
}

function text(pattern: RegExp, expected: string) {
  const message = `expected ${expected}`;
  return v.pipe(v.string(message), v.regex(pattern, message));
}

function textUpTo(charactersMax: number): string {
  return `expected a text of 1 to ${charactersMax} characters`;
}

function name() {
  const expected = textUpTo(NAME_CHARACTERS_MAX);
  return v.pipe(
    v.string(expected),
    v.nonEmpty(expected),
    v.maxLength(NAME_CHARACTERS_MAX, expected),
  );
}

function header() {
  return text(HEADER_TEXT, "a text of printable ASCII characters");
}

function address(protocols: readonly string[]) {
  const allowed = protocols.map((protocol) => `${protocol}//`).join(" or ");
  const expected = `expected an address that begins with ${allowed}, without user name`;
  return v.pipe(
    v.string(expected),
    v.check((given) => {
      if (!URL.canParse(given)) return false;
      const { protocol, username, password } = new URL(given);
      return protocols.includes(protocol) && username === "" && password === "";
    }, expected),
  );
}
