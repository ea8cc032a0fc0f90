import { randomBytes, randomUUID } from "node:crypto";
import type * as v from "valibot";
import { type SpeechRequest, type TextToSpeech, VendorError } from "../contracts.js";
import { EDGE_FIELDS, WEB_SOCKET_PROTOCOLS } from "../setting-fields.js";
import type { SocketPool } from "../transport/socket-pools.js";
import { openSocket, type RefusedUpgrade, type VendorSocket } from "../transport/web-socket.js";
import { faultOfStatus, headerOf, refusal } from "../vendor-fault.js";
import {
  type Endpoint,
  endpointOf,
  parseSettings,
  type VendorContext,
  type VendorSettings,
} from "../vendor-settings.js";
import { configFrame, ssmlFrame } from "./edge-frames.js";
import { ssmlPieces } from "./edge-text.js";
import { edgeToken } from "./edge-token.js";
import { speakTurn } from "./edge-turn.js";
import { edgeVoice } from "./edge-voices.js";

const VENDOR = "edge";

const PUBLIC_URL = "wss://speech.platform.bing.com/consumer/speech/synthesize/readaloud/edge/v1";

const OPEN_TIMEOUT_MS = 10_000;

/** Microsoft's read-aloud service, without a key and without a promise: keep another vendor to fall back on. */
export class EdgeSpeech implements TextToSpeech {
  readonly formats = ["mp3"] as const;
  readonly #context: VendorContext;
  readonly #endpoint: Endpoint;
  readonly #clientOwned: boolean;
  readonly #settings: v.InferOutput<v.ObjectSchema<typeof EDGE_FIELDS, undefined>>;
  readonly #pool: SocketPool;

  constructor(given: VendorSettings, context: VendorContext) {
    this.#context = context;
    this.#endpoint = endpointOf(VENDOR, given, PUBLIC_URL, WEB_SOCKET_PROTOCOLS);
    this.#clientOwned = given.clientOwned;
    this.#settings = parseSettings(VENDOR, EDGE_FIELDS, given);
    const { trustedClientToken, secMsGecVersion, userAgent, origin, outputFormat } = this.#settings;
    this.#pool = context.connections.socketPools.pool(
      JSON.stringify([
        this.#endpoint,
        this.#clientOwned,
        [trustedClientToken, secMsGecVersion, userAgent, origin, outputFormat],
      ]),
    );
  }

  async synthesize(
    request: SpeechRequest,
    onChunk: (audio: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<void> {
    if (signal.aborted) throw new VendorError(VENDOR, "aborted", `${VENDOR}: aborted`);
    const pieces = ssmlPieces(request.text);
    if (pieces.length === 0) return;
    const socket = this.#pool.take() ?? (await this.#open(signal));
    try {
      for (const text of pieces) {
        const frame = ssmlFrame({
          requestId: newHexId(),
          epochMs: this.#nowMs(),
          language: request.language,
          voice: edgeVoice(request.modelId, this.#settings.voice, request.language),
          pitch: this.#settings.pitch,
          volume: this.#settings.volume,
          speed: request.speed,
          text,
        });
        await speakTurn(this.#context.clock, socket, frame, onChunk, signal);
      }
    } catch (error) {
      // There is no message that cancels a turn, and the rest of it must not reach the next one.
      socket.destroy();
      throw error;
    }
    this.#pool.give(socket);
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
        dispatcher: this.#context.connections.forSocket(url, this.#clientOwned),
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
    const fault = faultOfStatus(answer.status);
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
