import * as v from "valibot";
import { durationMsOf, MP3, MULAW_8K, PCM_24K } from "../../audio/audio-format.js";
import type { Clock } from "../../time/clock.js";
import {
  type SpeechRequest,
  type SpokenWord,
  type TextToSpeech,
  VendorError,
  type VendorFault,
} from "../contracts.js";
import { offeredModels, speechAbilities } from "../model-catalog.js";
import { choice, HTTP_PROTOCOLS, numberFrom, text } from "../setting-fields.js";
import type { RefusedAnswer } from "../transport/http-stream.js";
import { HttpVendor } from "../transport/http-vendor.js";
import { downloadSpeech } from "../transport/speech-download.js";
import {
  type Said,
  SocketVoice,
  speakOver,
  type TurnReader,
  type VoiceDialect,
} from "../tts-socket/tts-socket.js";
import { BASE_URL, setting, type Vendor, type VendorVoice, type VoiceList } from "../vendor.js";
import { faultOfStatus, type RefusalDetail, reasonOf, refusal } from "../vendor-fault.js";
import { parseAnswer, tryParse } from "../vendor-json.js";
import {
  endpointOf,
  parseSettings,
  requireApiKey,
  type VendorContext,
  type VendorSettings,
} from "../vendor-settings.js";

export const VENDOR = "elevenlabs";

/** The documented range; a value outside it makes the vendor refuse the whole sentence. */
const SPEED_MIN = 0.7;
const SPEED_MAX = 1.2;

export const OUTPUT_FORMATS = {
  mp3: "mp3_24000_48",
  mulaw: "ulaw_8000",
  pcm16: "pcm_24000",
} as const;

export interface VoiceSettings {
  readonly stability?: number | undefined;
  readonly similarityBoost?: number | undefined;
  readonly style?: number | undefined;
}

export function voiceSettingsOf(settings: VoiceSettings, speed: number): object {
  const { stability, similarityBoost, style } = settings;
  return {
    stability,
    similarity_boost: similarityBoost,
    style,
    speed: Math.min(SPEED_MAX, Math.max(SPEED_MIN, speed)),
  };
}

export function languageOf(modelId: string, language: string): { readonly language_code?: string } {
  const [code] = language.split("-", 1);
  // Other models detect the language from the text, and refuse the field.
  const takesLanguage = speechAbilities(VENDOR, modelId).language === true;
  return takesLanguage && code !== undefined ? { language_code: code } : {};
}

const detailSchema = v.object({
  status: v.optional(v.string()),
  code: v.optional(v.string()),
  message: v.optional(v.string()),
});

/** The list belongs to an invalid request; its entries also quote the text, which is omitted. */
const bodySchema = v.object({
  // The list comes first: a schema whose fields are all optional accepts a list as an object.
  detail: v.union([v.string(), v.array(v.object({ msg: v.optional(v.string()) })), detailSchema]),
});

export function readDetail(body: string): RefusalDetail {
  const detail = tryParse(bodySchema, body)?.value.detail;
  if (detail === undefined || typeof detail === "string") {
    return { code: undefined, message: detail };
  }
  if (Array.isArray(detail)) {
    const messages = detail.map(({ msg }) => msg ?? "").filter((msg) => msg !== "");
    return { code: "validation_error", message: messages.join("; ") };
  }
  return { code: detail.status ?? detail.code, message: detail.message };
}

/** ElevenLabs uses different statuses for one code: out of quota has been seen as 400 and as 401. */
const FAULTS: ReadonlyMap<string, VendorFault> = new Map([
  ["invalid_api_key", "unauthorized"],
  ["quota_exceeded", "quotaExceeded"],
  ["too_many_concurrent_requests", "rateLimited"],
  ["system_busy", "unavailable"],
  ["voice_not_found", "notFound"],
]);

export function faultOfAnswer(code: string | undefined, status: number): VendorFault {
  return FAULTS.get(code ?? "") ?? faultOfStatus(status);
}

/** The vendor closes a socket after this much inactivity; the server closes its sockets earlier. */
const INACTIVITY_SEC = 60;
/** The rest of an interrupted sentence arrives faster than real time; otherwise the socket is not worth keeping. */
const DRAIN_MAX_MS = 3_000;

/** `/multi-stream-input`: each sentence is a context of its own on a shared socket. */
export function contextDialect(voiceId: string, settings: VoiceSettings): VoiceDialect {
  return {
    vendor: VENDOR,
    sentencesMax: Number.POSITIVE_INFINITY,
    drainMaxMs: DRAIN_MAX_MS,
    target: ({ modelId, language, format }) => {
      const query = new URLSearchParams({
        model_id: modelId,
        output_format: OUTPUT_FORMATS[format.encoding],
        ...languageOf(modelId, language),
        // A sentence is sent whole; the vendor need not wait for more.
        auto_mode: "true",
        sync_alignment: "true",
        inactivity_timeout: String(INACTIVITY_SEC),
      });
      return `/v1/text-to-speech/${encodeURIComponent(voiceId)}/multi-stream-input?${query.toString()}`;
    },
    frames: ({ text, speed }, id) =>
      [
        { text: " ", context_id: id, voice_settings: voiceSettingsOf(settings, speed) },
        { text: `${text} `, context_id: id, flush: true },
        // Flushed text is spoken in any case, and only a closed context reports its end.
        { context_id: id, close_context: true },
      ].map((message) => JSON.stringify(message)),
    newReader: (id, request) => new ContextReader(id, request),
    refusalDetail: ({ body }) => readDetail(body),
    refusalFault: faultOfAnswer,
  };
}

const numbers = v.optional(v.array(v.number()));
/** The vendor's documents spell the names in two ways. */
const alignmentSchema = v.object({
  chars: v.optional(v.array(v.string()), []),
  charStartTimesMs: numbers,
  charsStartTimesMs: numbers,
  charDurationsMs: numbers,
  charsDurationsMs: numbers,
});

const messageSchema = v.object({
  contextId: v.nullish(v.string()),
  context_id: v.nullish(v.string()),
  audio: v.nullish(v.string()),
  isFinal: v.nullish(v.boolean()),
  is_final: v.nullish(v.boolean()),
  alignment: v.nullish(alignmentSchema),
  error: v.nullish(v.string()),
  code: v.nullish(v.union([v.string(), v.number()])),
});

class ContextReader implements TurnReader {
  readonly #id: string;
  readonly #format: SpeechRequest["format"];
  /** Characters of the text, without spaces, whose times are still to come. */
  #charsLeft: number;
  #receivedMs = 0;
  /** The word whose end has not arrived yet. */
  #word: SpokenWord | undefined;

  constructor(id: string, { format, text }: SpeechRequest) {
    this.#id = id;
    this.#format = format;
    this.#charsLeft = Array.from(text).filter((character) => character.trim() !== "").length;
  }

  text(text: string): readonly Said[] {
    const message = tryParse(messageSchema, text)?.value;
    if (message === undefined) {
      return [{ kind: "failed", fault: "badAnswer", message: "unreadable answer" }];
    }
    const { error, audio, alignment } = message;
    if (typeof error === "string") {
      const reason = reasonOf({ code: error, message: error });
      return [
        { kind: "failed", fault: faultOfError(error), message: reason || "reports an error" },
      ];
    }
    const id = message.contextId ?? message.context_id ?? this.#id;
    if (id !== this.#id) return [];
    const said: Said[] = [];
    const words = alignment ? this.#timed(alignment) : [];
    if (typeof audio === "string" && audio !== "") {
      const bytes = Buffer.from(audio, "base64");
      if (this.#format.encoding !== "mp3") this.#receivedMs += durationMsOf(bytes, this.#format);
      said.push({ kind: "audio", bytes });
    }
    said.push({ kind: "words", words });
    if (message.isFinal === true || message.is_final === true) {
      if (this.#word !== undefined) said.push({ kind: "words", words: [this.#word] });
      said.push({ kind: "done" });
    }
    return said.filter((each) => each.kind !== "words" || each.words.length > 0);
  }

  binary(): readonly Said[] {
    return [];
  }

  /** The words that have ended. Times refer to this piece of audio; the length of the earlier audio is added. */
  #timed(alignment: v.InferOutput<typeof alignmentSchema>): readonly SpokenWord[] {
    const starts = alignment.charStartTimesMs ?? alignment.charsStartTimesMs ?? [];
    const durations = alignment.charDurationsMs ?? alignment.charsDurationsMs ?? [];
    const beforeMs = this.#receivedMs;
    const words: SpokenWord[] = [];
    for (const [n, character] of alignment.chars.entries()) {
      const startMs = Math.round(beforeMs + (starts[n] ?? 0));
      const endMs = Math.round(beforeMs + (starts[n] ?? 0) + (durations[n] ?? 0));
      const word = this.#word;
      if (character.trim() !== "") {
        this.#charsLeft -= 1;
        this.#word = {
          text: `${word?.text ?? ""}${character}`,
          startMs: word?.startMs ?? startMs,
          endMs,
        };
      } else if (word !== undefined) {
        words.push(word);
        this.#word = undefined;
      }
    }
    // The last word has ended with the text; the vendor reports that only at the end of the
    // context, which may be late.
    if (this.#word !== undefined && this.#charsLeft === 0) {
      words.push(this.#word);
      this.#word = undefined;
    }
    return words;
  }
}

function faultOfError(error: string): VendorFault {
  if (error === "input_timeout_exceeded") return "disconnected";
  return faultOfAnswer(error, 400);
}

const PUBLIC_URL = "https://api.elevenlabs.io";

const share = v.optional(numberFrom(0, 1));

const ELEVENLABS_FIELDS = {
  /** A voice that every account has. */
  voiceId: v.optional(
    text(/^[\x20-\x7e]{1,200}$/, "an id of 1 to 200 printable ASCII characters"),
    "21m00Tcm4TlvDq8ikWAM",
  ),
  stability: share,
  similarityBoost: share,
  style: share,
  transport: v.optional(choice(["http", "websocket"]), "http"),
};

export const ELEVENLABS: Vendor = {
  key: VENDOR,
  apiKey: { isRequired: true, variable: "ELEVENLABS_API_KEY" },
  address: { variable: "ELEVENLABS_BASE_URL", publicUrl: PUBLIC_URL, protocols: HTTP_PROTOCOLS },
  tts: {
    displayName: "ElevenLabs",
    models: offeredModels("elevenlabs", "tts"),
    fields: ELEVENLABS_FIELDS,
    settings: [
      setting("voiceId", "Voice id", "string"),
      setting("stability", "Stability, 0 to 1", "number"),
      setting("similarityBoost", "Similarity to the voice, 0 to 1", "number"),
      setting("style", "Style, 0 to 1", "number"),
      setting("transport", "Transport: http, or websocket, which returns word timings", "string"),
      BASE_URL,
    ],
    client: (given, context) => new ElevenLabs(given, context),
    voices: { setting: "voiceId", list: listVoices },
  },
};

/** The socket does not support this model or key, or does not exist: plain requests may still work. */
const NO_SOCKET: ReadonlySet<number> = new Set([400, 403, 404, 405, 426, 501]);
/** After a refused socket, the next socket request waits this long. */
const NO_SOCKET_MS = 60_000;

/** Uses plain requests, or a shared WebSocket if the provider's settings say so. The WebSocket has no MP3 at 24 kHz. */
class ElevenLabs implements TextToSpeech {
  readonly formats = [MP3, MULAW_8K, PCM_24K];
  readonly #vendor: HttpVendor;
  readonly #apiKey: string;
  readonly #settings: v.InferOutput<v.ObjectSchema<typeof ELEVENLABS_FIELDS, undefined>>;

  readonly #clock: Clock;
  readonly #socketVoice: SocketVoice;
  #noSocketUntilMs = Number.NEGATIVE_INFINITY;

  constructor(given: VendorSettings, context: VendorContext) {
    this.#vendor = new HttpVendor(VENDOR, given, PUBLIC_URL, context);
    this.#apiKey = requireApiKey(VENDOR, given);
    this.#settings = parseSettings(VENDOR, ELEVENLABS_FIELDS, given);
    this.#clock = context.clock;
    this.#socketVoice = new SocketVoice(contextDialect(this.#settings.voiceId, this.#settings), {
      context,
      endpoint: endpointOf(VENDOR, given, PUBLIC_URL),
      clientOwned: given.clientOwned,
      orgId: given.orgId,
      apiKey: this.#apiKey,
      headers: { "xi-api-key": this.#apiKey },
    });
  }

  async synthesize(
    request: SpeechRequest,
    onChunk: (audio: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const isSocketWanted = this.#settings.transport === "websocket";
    const mayHaveSocket = this.#clock.monotonicMs() >= this.#noSocketUntilMs;
    if (isSocketWanted && mayHaveSocket && request.format.encoding !== "mp3") {
      try {
        return await speakOver(
          () => this.#socketVoice.synthesize(request, onChunk, signal),
          (take) => this.#download(request, take, signal),
          onChunk,
          signal,
        );
      } catch (error) {
        if (!isSocketRefused(error)) throw error;
        this.#noSocketUntilMs = this.#clock.monotonicMs() + NO_SOCKET_MS;
      }
    }
    await this.#download(request, onChunk, signal);
  }

  #download(
    request: SpeechRequest,
    onChunk: (audio: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { voiceId } = this.#settings;
    const path = `/v1/text-to-speech/${encodeURIComponent(voiceId)}/stream`;
    return downloadSpeech(
      this.#vendor,
      {
        path: `${path}?output_format=${OUTPUT_FORMATS[request.format.encoding]}`,
        headers: { "xi-api-key": this.#apiKey, "content-type": "application/json" },
        body: JSON.stringify({
          text: request.text,
          model_id: request.modelId,
          ...languageOf(request.modelId, request.language),
          voice_settings: voiceSettingsOf(this.#settings, request.speed),
        }),
        refuse: (answer) => refuse(answer, this.#apiKey),
      },
      request,
      onChunk,
      signal,
    );
  }

  warm(): void {
    this.#vendor.warm();
  }
}

const VOICES_PER_PAGE = 100;
const VOICE_PAGES_MAX = 5;

const voicesSchema = v.object({
  voices: v.array(
    v.object({
      voice_id: v.string(),
      name: v.string(),
      description: v.nullish(v.string()),
      labels: v.nullish(v.record(v.string(), v.nullish(v.string()))),
    }),
  ),
  has_more: v.optional(v.boolean()),
  next_page_token: v.nullish(v.string()),
});

/** The voices of the account, including the vendor's own. */
async function listVoices(
  given: VendorSettings,
  context: VendorContext,
  signal: AbortSignal,
): Promise<VoiceList> {
  const vendor = new HttpVendor(VENDOR, given, PUBLIC_URL, context);
  const apiKey = requireApiKey(VENDOR, given);
  const voices: VendorVoice[] = [];
  let next: string | undefined;
  for (let page = 0; page < VOICE_PAGES_MAX; page += 1) {
    const query = new URLSearchParams({ page_size: String(VOICES_PER_PAGE) });
    if (next !== undefined) query.set("next_page_token", next);
    const answer = await vendor.get(
      {
        path: `/v2/voices?${query.toString()}`,
        headers: { "xi-api-key": apiKey },
        refuse: (refused) => refuse(refused, apiKey),
      },
      signal,
    );
    const found = parseAnswer(VENDOR, voicesSchema, answer);
    for (const { voice_id: voiceId, name, description, labels } of found.voices) {
      const language = labels?.["language"] ?? null;
      const manner = [labels?.["gender"], labels?.["accent"], labels?.["description"]];
      const words = manner.filter((each) => each !== undefined && each !== null).join(", ");
      voices.push({ voiceId, name, language, description: words || description || null });
    }
    next = found.has_more === true ? (found.next_page_token ?? undefined) : undefined;
    if (next === undefined) return { voices, hasMore: false };
  }
  return { voices, hasMore: true };
}

function isSocketRefused(error: unknown): boolean {
  return error instanceof VendorError && NO_SOCKET.has(error.status ?? 0);
}

function refuse(answer: RefusedAnswer, apiKey: string): VendorError {
  const detail = readDetail(answer.body);
  return refusal(VENDOR, faultOfAnswer(detail.code, answer.status), answer, detail, apiKey);
}
