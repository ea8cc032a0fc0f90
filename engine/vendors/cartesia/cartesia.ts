import * as v from "valibot";
import { MP3, MULAW_8K, PCM_24K } from "../../audio/audio-format.js";
import type { SpeechFormat, SpeechRequest, TextToSpeech } from "../contracts.js";
import { offeredModels, speechAbilities } from "../model-catalog.js";
import { HTTP_PROTOCOLS, numberFrom, text } from "../setting-fields.js";
import { HttpVendor } from "../transport/http-vendor.js";
import { downloadSpeech } from "../transport/speech-download.js";
import { type Said, SocketVoice, speakOver, type TurnReader } from "../tts-socket/tts-socket.js";
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

const VENDOR = "cartesia";
const PUBLIC_URL = "https://api.cartesia.ai";
/** The API version that the messages below follow. */
const API_VERSION = "2026-03-01";

const SOCKET_TARGET = `/tts/websocket?cartesia_version=${API_VERSION}`;

/** The documented range; a value outside it makes the vendor refuse the whole sentence. */
const SPEED_MIN = 0.6;
const SPEED_MAX = 1.5;

const FIELDS = {
  voiceId: v.optional(
    text(/^[\x20-\x7e]{1,200}$/, "an id of 1 to 200 printable ASCII characters"),
    "a0e99841-438c-4a64-b679-ae501e7d6091",
  ),
  volume: v.optional(numberFrom(0.5, 2)),
};

export const CARTESIA: Vendor = {
  key: VENDOR,
  apiKey: { isRequired: true, variable: "CARTESIA_API_KEY" },
  address: { variable: "CARTESIA_BASE_URL", publicUrl: PUBLIC_URL, protocols: HTTP_PROTOCOLS },
  tts: {
    displayName: "Cartesia",
    models: offeredModels("cartesia", "tts"),
    fields: FIELDS,
    settings: [
      setting("voiceId", "Voice id", "string"),
      setting("volume", "Volume, 0.5 to 2", "number"),
      BASE_URL,
    ],
    client: (given, context) => new Cartesia(given, context),
    voices: { setting: "voiceId", list: listVoices },
  },
};

type Settings = v.InferOutput<v.ObjectSchema<typeof FIELDS, undefined>>;

/** Uses a WebSocket with word times for telephones. The WebSocket has no MP3, which is requested by HTTP. */
class Cartesia implements TextToSpeech {
  readonly formats = [MP3, MULAW_8K, PCM_24K];
  readonly #settings: Settings;
  readonly #apiKey: string;
  readonly #vendor: HttpVendor;
  readonly #voice: SocketVoice;

  constructor(given: VendorSettings, context: VendorContext) {
    const settings = parseSettings(VENDOR, FIELDS, given);
    this.#settings = settings;
    this.#apiKey = requireApiKey(VENDOR, given);
    this.#vendor = new HttpVendor(VENDOR, given, PUBLIC_URL, context);
    this.#voice = new SocketVoice(
      {
        vendor: VENDOR,
        sentencesMax: Number.POSITIVE_INFINITY,
        target: () => SOCKET_TARGET,
        frames: (request, id) => [
          JSON.stringify({
            ...generation(request, settings),
            context_id: id,
            continue: false,
            add_timestamps: request.onWords !== undefined,
            // A sentence is sent whole; the vendor need not wait for more.
            max_buffer_delay_ms: 0,
          }),
        ],
        newReader: (id) => new CartesiaReader(id),
        refusalDetail: ({ body }) => readError(body),
      },
      {
        context,
        endpoint: endpointOf(VENDOR, given, PUBLIC_URL),
        clientOwned: given.clientOwned,
        orgId: given.orgId,
        apiKey: this.#apiKey,
        headers: { Authorization: `Bearer ${this.#apiKey}`, "Cartesia-Version": API_VERSION },
      },
    );
  }

  synthesize(
    request: SpeechRequest,
    onChunk: (audio: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<void> {
    if (request.format.encoding === "mp3") return this.#download(request, onChunk, signal);
    return speakOver(
      () => this.#voice.synthesize(request, onChunk, signal),
      (take) => this.#download(request, take, signal),
      onChunk,
      signal,
    );
  }

  #download(
    request: SpeechRequest,
    onChunk: (audio: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<void> {
    return downloadSpeech(
      this.#vendor,
      {
        path: "/tts/bytes",
        headers: {
          authorization: `Bearer ${this.#apiKey}`,
          "cartesia-version": API_VERSION,
          "content-type": "application/json",
        },
        body: JSON.stringify(generation(request, this.#settings)),
        refuse: (answer) => {
          const fault = faultOfStatus(answer.status);
          return refusal(VENDOR, fault, answer, readError(answer.body), this.#apiKey);
        },
      },
      request,
      onChunk,
      signal,
    );
  }

  warm(): void {
    // It is not known yet which of the two the call will use.
    this.#vendor.warm();
    this.#voice.warm(SOCKET_TARGET);
  }
}

const VOICES_PER_PAGE = 100;
const VOICE_PAGES_MAX = 5;

const voiceSchema = v.object({
  id: v.string(),
  name: v.string(),
  language: v.nullish(v.string()),
  description: v.nullish(v.string()),
});
const voicesSchema = v.object({
  data: v.array(voiceSchema),
  has_more: v.optional(v.boolean(), false),
});

/** The vendor's voices and those of the account. */
async function listVoices(
  given: VendorSettings,
  context: VendorContext,
  signal: AbortSignal,
): Promise<VoiceList> {
  const vendor = new HttpVendor(VENDOR, given, PUBLIC_URL, context);
  const apiKey = requireApiKey(VENDOR, given);
  const voices: VendorVoice[] = [];
  for (let page = 0; page < VOICE_PAGES_MAX; page += 1) {
    const query = new URLSearchParams({ limit: String(VOICES_PER_PAGE) });
    const last = voices.at(-1);
    if (last !== undefined) query.set("starting_after", last.voiceId);
    const answer = await vendor.get(
      {
        path: `/voices?${query.toString()}`,
        headers: { authorization: `Bearer ${apiKey}`, "cartesia-version": API_VERSION },
        refuse: (refused) =>
          refusal(VENDOR, faultOfStatus(refused.status), refused, readError(refused.body), apiKey),
      },
      signal,
    );
    const found = parseAnswer(VENDOR, voicesSchema, answer);
    for (const { id, name, language, description } of found.data) {
      voices.push({
        voiceId: id,
        name,
        language: language ?? null,
        description: description || null,
      });
    }
    if (!found.has_more || found.data.length === 0) return { voices, hasMore: false };
  }
  return { voices, hasMore: true };
}

/** Only one document says that the vendor accepts `pcm_mulaw`. */
const OUTPUT_FORMATS: Readonly<Record<SpeechFormat["encoding"], object>> = {
  mp3: { container: "mp3", sample_rate: 24_000, bit_rate: 48_000 },
  mulaw: { container: "raw", encoding: "pcm_mulaw", sample_rate: 8_000 },
  pcm16: { container: "raw", encoding: "pcm_s16le", sample_rate: 24_000 },
};

function generation(request: SpeechRequest, { voiceId, volume }: Settings): object {
  const takes = speechAbilities(VENDOR, request.modelId);
  const generation_config = {
    ...(takes.speed !== false && {
      speed: Math.min(SPEED_MAX, Math.max(SPEED_MIN, request.speed)),
    }),
    ...(takes.volume !== false && { volume }),
  };
  return {
    model_id: request.modelId,
    transcript: request.text,
    voice: { mode: "id", id: voiceId },
    language: request.language.split("-", 1)[0],
    output_format: OUTPUT_FORMATS[request.format.encoding],
    ...(Object.keys(generation_config).length > 0 && { generation_config }),
  };
}

const errorSchema = v.object({
  error_code: v.optional(v.string()),
  title: v.optional(v.string()),
  message: v.optional(v.string()),
  error: v.optional(v.string()),
});

function readError(body: string): RefusalDetail {
  const error = tryParse(errorSchema, body)?.value;
  // The message may repeat the transcript; the title and the code do not.
  return { code: error?.error_code, message: error?.title };
}

const messageSchema = v.object({
  type: v.string(),
  context_id: v.optional(v.string()),
  data: v.optional(v.string()),
  status_code: v.optional(v.number()),
  error_code: v.optional(v.string()),
  title: v.optional(v.string()),
  word_timestamps: v.nullish(
    v.object({
      words: v.array(v.string()),
      start: v.array(v.number()),
      end: v.array(v.number()),
    }),
  ),
});

class CartesiaReader implements TurnReader {
  readonly #id: string;

  constructor(id: string) {
    this.#id = id;
  }

  text(text: string): readonly Said[] {
    const message = tryParse(messageSchema, text)?.value;
    if (message === undefined) {
      return [{ kind: "failed", fault: "badAnswer", message: "unreadable answer" }];
    }
    if (message.context_id !== undefined && message.context_id !== this.#id) return [];
    switch (message.type) {
      case "chunk":
        return [{ kind: "audio", bytes: Buffer.from(message.data ?? "", "base64") }];
      case "timestamps": {
        const { words = [], start = [], end = [] } = message.word_timestamps ?? {};
        const timed = words.map((word, n) => ({
          text: word,
          startMs: Math.round((start[n] ?? 0) * 1_000),
          endMs: Math.round((end[n] ?? start[n] ?? 0) * 1_000),
        }));
        return [{ kind: "words", words: timed }];
      }
      case "done":
        return [{ kind: "done" }];
      case "error": {
        const fault = faultOfStatus(message.status_code ?? 500);
        const reason = reasonOf({ code: message.error_code, message: message.title });
        return [{ kind: "failed", fault, message: reason || "reports an error" }];
      }
      default:
        return [];
    }
  }

  binary(): readonly Said[] {
    return [];
  }
}
