import { randomBytes, randomUUID } from "node:crypto";
import * as v from "valibot";
import { MP3 } from "../../audio/audio-format.js";
import { type SpeechRequest, type TextToSpeech, VendorError } from "../contracts.js";
import { offeredModels } from "../model-catalog.js";
import { choice, header, name, text, WEB_SOCKET_PROTOCOLS } from "../setting-fields.js";
import { speakTurn, type TurnReader } from "../socket-voice/spoken-turn.js";
import type { SocketPool } from "../transport/socket-pools.js";
import { openSocket, type RefusedUpgrade, type VendorSocket } from "../transport/web-socket.js";
import { BASE_URL, setting, type Vendor } from "../vendor.js";
import { headerOf, keyFaultOfStatus, refusal } from "../vendor-fault.js";
import {
  type Endpoint,
  endpointOf,
  parseSettings,
  type VendorContext,
  type VendorSettings,
} from "../vendor-settings.js";
import { audioOf, configFrame, pathOf, ssmlFrame } from "./edge-frames.js";
import { escapeXml, textPieces } from "./edge-text.js";
import { edgeToken } from "./edge-token.js";
import { edgeVoice } from "./edge-voices.js";

const VENDOR = "edge";

const PUBLIC_URL = "wss://speech.platform.bing.com/consumer/speech/synthesize/readaloud/edge/v1";

const OPEN_TIMEOUT_MS = 10_000;

const MP3_FORMATS = ["audio-24khz-48kbitrate-mono-mp3", "audio-24khz-96kbitrate-mono-mp3"] as const;

/** The service changes what it expects now and then, so every constant of it can be set. */
const EDGE_FIELDS = {
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

export const EDGE: Vendor = {
  key: VENDOR,
  apiKey: { isRequired: false },
  address: { variable: "EDGE_TTS_URL", publicUrl: PUBLIC_URL, protocols: WEB_SOCKET_PROTOCOLS },
  tts: {
    displayName: "Edge voices",
    models: offeredModels("edge", "tts"),
    fields: EDGE_FIELDS,
    settings: [
      setting("pitch", "Pitch, for example +10Hz", "string"),
      setting("volume", "Volume, for example -20%", "string"),
      BASE_URL,
    ],
    client: (given, context) => new EdgeSpeech(given, context),
  },
};

/** A message of an earlier sentence may be late on these. */
const usedSockets = new WeakSet<VendorSocket>();

/** Microsoft's read-aloud service, without a key and without a promise: keep another vendor to fall back on. */
export class EdgeSpeech implements TextToSpeech {
  readonly formats = [MP3];
  readonly #context: VendorContext;
  readonly #endpoint: Endpoint;
  readonly #clientOwned: boolean;
  readonly #orgId: string | undefined;
  readonly #settings: v.InferOutput<v.ObjectSchema<typeof EDGE_FIELDS, undefined>>;
  readonly #pool: SocketPool;

  constructor(given: VendorSettings, context: VendorContext) {
    this.#context = context;
    this.#endpoint = endpointOf(VENDOR, given, PUBLIC_URL, WEB_SOCKET_PROTOCOLS);
    this.#clientOwned = given.clientOwned;
    this.#orgId = given.orgId;
    this.#settings = parseSettings(VENDOR, EDGE_FIELDS, given);
    const { trustedClientToken, secMsGecVersion, userAgent, origin, outputFormat } = this.#settings;
    this.#pool = context.connections.socketPools.pool(
      JSON.stringify([
        this.#endpoint,
        this.#clientOwned,
        [trustedClientToken, secMsGecVersion, userAgent, origin, outputFormat],
      ]),
      given.orgId,
    );
  }

  async synthesize(
    request: SpeechRequest,
    onChunk: (audio: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) throw new VendorError(VENDOR, "aborted", `${VENDOR}: aborted`);
    const pieces = textPieces(request.text);
    if (pieces.length === 0) return;
    let socket = await this.#socket(signal);
    try {
      for (const piece of pieces) {
        const frame = ssmlFrame({
          requestId: newHexId(),
          epochMs: this.#nowMs(),
          language: request.language,
          voice: edgeVoice(request.modelId, this.#settings.voice, request.language),
          pitch: this.#settings.pitch,
          volume: this.#settings.volume,
          speed: request.speed,
          text: escapeXml(piece),
        });
        const { clock } = this.#context;
        const reader = EDGE_READER;
        const isInStep = await speakTurn({
          vendor: VENDOR,
          clock,
          socket,
          frames: [frame],
          reader,
          speech: pieces.length === 1 ? request : pieceOf(request, piece),
          onChunk,
          signal,
          isReused: usedSockets.has(socket),
        });
        usedSockets.add(socket);
        if (!isInStep) socket = await this.#socket(signal);
      }
    } catch (error) {
      // There is no message that cancels a turn, and the rest of it must not reach the next one.
      socket.destroy();
      throw error;
    }
    this.#pool.give(socket);
  }

  async #socket(signal: AbortSignal): Promise<VendorSocket> {
    return this.#pool.take() ?? (await this.#open(signal));
  }

  warm(): void {
    const { ended } = this.#context.connections.socketPools;
    // A failure is left to the first sentence, which reports it.
    this.#pool.warm(() => this.#open(ended)).catch(() => undefined);
  }

  async #open(signal: AbortSignal): Promise<VendorSocket> {
    try {
      return await this.#upgrade(signal);
    } catch (error) {
      // A token is good for minutes only, and the refusal of a stale one carries the service's own time.
      if (!(error instanceof SkewedClockError)) throw error;
      this.#pool.clockSkewMs = error.clockSkewMs;
      return await this.#upgrade(signal);
    }
  }

  async #upgrade(signal: AbortSignal): Promise<VendorSocket> {
    const { trustedClientToken, secMsGecVersion, userAgent, origin } = this.#settings;
    const query = new URLSearchParams({
      TrustedClientToken: trustedClientToken,
      ConnectionId: newHexId(),
      "Sec-MS-GEC": edgeToken(this.#nowMs(), trustedClientToken),
      "Sec-MS-GEC-Version": secMsGecVersion,
    });
    const url = `${this.#endpoint.origin}${this.#endpoint.path}?${query.toString()}`;
    const socket = await openSocket(
      {
        vendor: VENDOR,
        url,
        headers: {
          "User-Agent": userAgent ?? userAgentOf(secMsGecVersion),
          Origin: origin,
          Pragma: "no-cache",
          "Cache-Control": "no-cache",
          "Accept-Encoding": "gzip, deflate, br, zstd",
          "Accept-Language": "en-US,en;q=0.9",
          Cookie: `muid=${randomBytes(16).toString("hex").toUpperCase()};`,
        },
        dispatcher: this.#context.connections.forSocket(url, this.#clientOwned, this.#orgId),
        clock: this.#context.clock,
        openTimeoutMs: OPEN_TIMEOUT_MS,
        offersCompression: true,
        refuse: (answer) => this.#refusal(answer),
      },
      signal,
    );
    socket.sendText(configFrame(this.#nowMs(), this.#settings.outputFormat));
    return socket;
  }

  #refusal(answer: RefusedUpgrade): VendorError {
    const nowMs = this.#context.clock.epochMs();
    // There is no key: it is the token, made of the clock and a version, that is refused.
    const fault = keyFaultOfStatus(answer.status);
    const error = refusal(
      VENDOR,
      fault,
      { ...answer, nowMs },
      { code: undefined, message: undefined },
      undefined,
    );
    const serverMs = Date.parse(headerOf(answer.headers, "date") ?? "");
    if (answer.status !== 403 || Number.isNaN(serverMs)) return error;
    return new SkewedClockError(error, serverMs - nowMs);
  }

  #nowMs(): number {
    return this.#context.clock.epochMs() + this.#pool.clockSkewMs;
  }
}

/** A piece of a text is compared with nothing but itself. */
function pieceOf({ measure: _ofAll, ...request }: SpeechRequest, text: string): SpeechRequest {
  return { ...request, text };
}

const EDGE_READER: TurnReader = {
  text: (message) => (pathOf(message) === "turn.end" ? [{ kind: "done" }] : []),
  binary: (bytes) => {
    const audio = audioOf(bytes);
    return audio === undefined ? [] : [{ kind: "audio", bytes: audio }];
  },
};

/** The service refused the token; thrown on when its own time did not help. */
class SkewedClockError extends VendorError {
  readonly clockSkewMs: number;

  constructor(refused: VendorError, clockSkewMs: number) {
    super(refused.vendor, refused.fault, refused.message, { status: 403 });
    this.clockSkewMs = clockSkewMs;
  }
}

function userAgentOf(secMsGecVersion: string): string {
  const major = /^1-(\d+)/.exec(secMsGecVersion)?.[1] ?? "143";
  return (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) " +
    `Chrome/${major}.0.0.0 Safari/537.36 Edg/${major}.0.0.0`
  );
}

function newHexId(): string {
  return randomUUID().replaceAll("-", "");
}
