import * as v from "valibot";
import { MP3, MULAW_8K, PCM_24K } from "../../audio/audio-format.js";
import type { SpeechFormat, SpeechRequest, TextToSpeech } from "../contracts.js";
import { WEB_SOCKET_PROTOCOLS } from "../setting-fields.js";
import { HttpVendor } from "../transport/http-vendor.js";
import { downloadSpeech } from "../transport/speech-download.js";
import { type Said, SocketVoice, speakOver, type TurnReader } from "../tts-socket/tts-socket.js";
import { reasonOf, refusal } from "../vendor-fault.js";
import { tryParse } from "../vendor-json.js";
import { endpointOf, type VendorContext, type VendorSettings } from "../vendor-settings.js";
import {
  DEEPGRAM_URL,
  deepgramAccess,
  deepgramRefusal,
  deepgramRefusalFault,
  VENDOR,
} from "./deepgram-access.js";

/** The vendor accepts 20 flushes a minute on one socket, and a sentence needs one. */
const SENTENCES_MAX = 20;

/** The vendor's MP3 is always at 22.05 kHz. Its speed cannot be set. */
const QUERIES: Readonly<Record<SpeechFormat["encoding"], string>> = {
  mp3: "encoding=mp3&bit_rate=48000",
  mulaw: "encoding=mulaw&sample_rate=8000&container=none",
  pcm16: "encoding=linear16&sample_rate=24000&container=none",
};

/** Deepgram's voices. Telephones use a WebSocket; it has no MP3, which is requested by HTTP. A model is a voice. */
export class DeepgramAura implements TextToSpeech {
  readonly formats = [MP3, MULAW_8K, PCM_24K];
  readonly #apiKey: string;
  readonly #vendor: HttpVendor;
  readonly #voice: SocketVoice;

  constructor(given: VendorSettings, context: VendorContext) {
    const access = deepgramAccess(given, context);
    this.#apiKey = access.apiKey;
    const { origin, path } = endpointOf(VENDOR, given, DEEPGRAM_URL, WEB_SOCKET_PROTOCOLS);
    const baseUrl = origin.replace(/^ws/, "http") + path;
    this.#vendor = new HttpVendor(VENDOR, { ...given, baseUrl }, "", context);
    this.#voice = new SocketVoice(
      {
        vendor: VENDOR,
        sentencesMax: SENTENCES_MAX,
        target: speakTarget,
        frames: ({ text }) => [
          JSON.stringify({ type: "Speak", text }),
          JSON.stringify({ type: "Flush" }),
        ],
        newReader: () => AURA_READER,
        refusalDetail: deepgramRefusal,
        refusalFault: deepgramRefusalFault,
      },
      access,
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
        path: speakTarget(request),
        headers: { authorization: `Token ${this.#apiKey}`, "content-type": "application/json" },
        body: JSON.stringify({ text: request.text }),
        refuse: (answer) => {
          const detail = deepgramRefusal(answer);
          const fault = deepgramRefusalFault(detail.code, answer.status);
          return refusal(VENDOR, fault, answer, detail, this.#apiKey);
        },
      },
      request,
      onChunk,
      signal,
    );
  }

  /** The socket's address contains voice and format, which are known only with the first sentence. */
  warm(): void {
    this.#vendor.warm();
  }
}

function speakTarget({ modelId, format }: SpeechRequest): string {
  return `/v1/speak?model=${encodeURIComponent(modelId)}&${QUERIES[format.encoding]}`;
}

const messageSchema = v.object({
  type: v.string(),
  code: v.optional(v.string()),
  description: v.optional(v.string()),
});

const AURA_READER: TurnReader = {
  text: (text): readonly Said[] => {
    const message = tryParse(messageSchema, text)?.value;
    if (message === undefined) return [];
    switch (message.type) {
      case "Flushed":
        return [{ kind: "done" }];
      case "Warning":
        // The flush was not executed, so no audio would ever arrive.
        return /flush/i.test(`${message.code} ${message.description}`)
          ? [{ kind: "failed", fault: "rateLimited", message: "takes no more flushes for now" }]
          : [];
      case "Error":
        return [
          {
            kind: "failed",
            fault: "unavailable",
            message:
              reasonOf({ code: message.code, message: message.description }) || "reports an error",
          },
        ];
      default:
        return [];
    }
  },
  binary: (bytes) => [{ kind: "audio", bytes }],
};
