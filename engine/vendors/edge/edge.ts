import { createHash, randomBytes, randomUUID } from "node:crypto";
import * as v from "valibot";
import { MP3 } from "../../audio/audio-format.js";
import { type SpeechRequest, type TextToSpeech, VendorError } from "../contracts.js";
import { offeredModels } from "../model-catalog.js";
import { choice, header, name, text, WEB_SOCKET_PROTOCOLS } from "../setting-fields.js";
import type { SocketPool } from "../transport/socket-pools.js";
import { openSocket, type RefusedUpgrade, type VendorSocket } from "../transport/web-socket.js";
import { speakTurn, type TurnReader } from "../tts-socket/tts-socket.js";
import { BASE_URL, setting, type Vendor } from "../vendor.js";
import { headerOf, keyFaultOfStatus, refusal } from "../vendor-fault.js";
import {
  type Endpoint,
  endpointOf,
  parseSettings,
  type VendorContext,
  type VendorSettings,
} from "../vendor-settings.js";

/** The maximum size of one request, after escaping. */
const SSML_TEXT_MAX_BYTES = 4_096;

/** For a text without a letter or digit the service returns no audio. */
export function isSpeakable(text: string): boolean {
  return /[\p{L}\p{N}]/u.test(text);
}

/**
 * Cuts text into pieces that have at most `maxBytes` of UTF-8 once escaped, between words if possible, never
 * inside a character.
 */
export function textPieces(text: string, maxBytes: number = SSML_TEXT_MAX_BYTES): string[] {
  // Half a surrogate pair becomes U+FFFD, and control characters, which XML forbids, become spaces.
  const clean = Buffer.from(text).toString().replaceAll(FORBIDDEN_IN_XML, " ");
  const pieces: string[] = [];
  let piece = "";
  let pieceBytes = 0;
  for (const word of wordsOf(clean)) {
    const wordBytes = escapedBytes(word);
    if (pieceBytes + wordBytes <= maxBytes) {
      piece += word;
      pieceBytes += wordBytes;
      continue;
    }
    if (piece !== "") pieces.push(piece);
    const parts = charactersUpTo(word, maxBytes);
    piece = parts.pop() ?? "";
    pieceBytes = escapedBytes(piece);
    pieces.push(...parts);
  }
  if (piece !== "") pieces.push(piece);
  return pieces.filter(isSpeakable);
}

export function escapeXml(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? character);
}

/** Control characters other than tab and line ends, and the two noncharacters. */
const FORBIDDEN_IN_XML = /[^\P{Cc}\t\n\r]|[\uFFFE\uFFFF]/gu;

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&apos;",
};

/** Each word with the white space after it. */
function wordsOf(text: string): string[] {
  return text.match(/\S*\s+|\S+/g) ?? [];
}

function escapedBytes(text: string): number {
  return Buffer.byteLength(escapeXml(text));
}

function charactersUpTo(word: string, maxBytes: number): string[] {
  const parts: string[] = [];
  let part = "";
  let partBytes = 0;
  for (const character of word) {
    const bytes = escapedBytes(character);
    if (partBytes + bytes > maxBytes) {
      parts.push(part);
      part = "";
      partBytes = 0;
    }
    part += character;
    partBytes += bytes;
  }
  parts.push(part);
  return parts;
}

/** The audio in a binary frame: a two-byte length, a header of that length, and the audio after it. */
export function audioOf(frame: Uint8Array): Uint8Array | undefined {
  const headerBytes = ((frame[0] ?? 0) << 8) | (frame[1] ?? 0);
  const audioAt = 2 + headerBytes;
  if (frame.length < 2 || frame.length < audioAt) return undefined;
  const header = Buffer.from(frame.buffer, frame.byteOffset + 2, headerBytes).toString("latin1");
  return pathOf(header) === "audio" ? frame.subarray(audioAt) : undefined;
}

/** The path of a frame, for example `turn.end`. */
export function pathOf(frame: string): string | undefined {
  return /^Path:\s*([\w.]+)/im.exec(headerOfFrame(frame))?.[1]?.toLowerCase();
}

export function configFrame(epochMs: number, outputFormat: string): string {
  const metadataoptions = { sentenceBoundaryEnabled: "false", wordBoundaryEnabled: "false" };
  return [
    `X-Timestamp:${timestamp(epochMs)}`,
    "Content-Type:application/json; charset=utf-8",
    "Path:speech.config",
    "",
    JSON.stringify({ context: { synthesis: { audio: { metadataoptions, outputFormat } } } }),
  ].join("\r\n");
}

export interface SsmlTurn {
  readonly requestId: string;
  readonly epochMs: number;
  readonly language: string;
  readonly voice: string;
  readonly pitch: string;
  readonly volume: string;
  /** 1 = the voice's default speed. */
  readonly speed: number;
  /** Already escaped. */
  readonly text: string;
}

export function ssmlFrame(turn: SsmlTurn): string {
  return [
    `X-RequestId:${turn.requestId}`,
    "Content-Type:application/ssml+xml",
    // The browser sends this stray Z too.
    `X-Timestamp:${timestamp(turn.epochMs)}Z`,
    "Path:ssml",
    "",
    `<speak version='1.0' xmlns='http://www.w3.org/2001/10/synthesis' xml:lang='${escapeXml(turn.language)}'>` +
      `<voice name='${escapeXml(turn.voice)}'>` +
      `<prosody pitch='${turn.pitch}' rate='${rate(turn.speed)}' volume='${turn.volume}'>` +
      `${turn.text}</prosody></voice></speak>`,
  ].join("\r\n");
}

function rate(speed: number): string {
  const percent = Math.round((speed - 1) * 100);
  return `${percent < 0 ? "" : "+"}${percent}%`;
}

/** `Thu Jan 01 2026 12:00:00 GMT+0000 (Coordinated Universal Time)` */
function timestamp(epochMs: number): string {
  const [weekday, day, month, year, time] = new Date(epochMs).toUTCString().split(/,? /);
  return `${weekday} ${month} ${day} ${year} ${time} GMT+0000 (Coordinated Universal Time)`;
}

function headerOfFrame(frame: string): string {
  const end = frame.indexOf("\r\n\r\n");
  return end === -1 ? frame : frame.slice(0, end);
}

/** The service counts from 1601, as Windows does. */
const SECONDS_FROM_1601_TO_1970 = 11_644_473_600n;

/** One token serves all requests of a five-minute step. */
const STEP_SECONDS = 300n;

const TICKS_PER_SECOND = 10_000_000n;

/** The `Sec-MS-GEC` parameter: upper-case hex SHA-256 of the time in 100 ns ticks, and the public client token. */
export function edgeToken(epochMs: number, trustedClientToken: string): string {
  const seconds = BigInt(Math.floor(epochMs / 1_000)) + SECONDS_FROM_1601_TO_1970;
  const ticks = (seconds - (seconds % STEP_SECONDS)) * TICKS_PER_SECOND;
  return createHash("sha256").update(`${ticks}${trustedClientToken}`).digest("hex").toUpperCase();
}

/** The default voice of each language; by locale first, then by language. */
const VOICES: Readonly<Record<string, string>> = {
  ar: "ar-SA-ZariyahNeural",
  cs: "cs-CZ-VlastaNeural",
  da: "da-DK-ChristelNeural",
  de: "de-DE-KatjaNeural",
  el: "el-GR-AthinaNeural",
  en: "en-US-AriaNeural",
  "en-AU": "en-AU-NatashaNeural",
  "en-GB": "en-GB-SoniaNeural",
  "en-IN": "en-IN-NeerjaNeural",
  es: "es-ES-ElviraNeural",
  "es-MX": "es-MX-DaliaNeural",
  fi: "fi-FI-NooraNeural",
  fr: "fr-FR-DeniseNeural",
  "fr-CA": "fr-CA-SylvieNeural",
  he: "he-IL-HilaNeural",
  hi: "hi-IN-SwaraNeural",
  hu: "hu-HU-NoemiNeural",
  id: "id-ID-GadisNeural",
  it: "it-IT-ElsaNeural",
  ja: "ja-JP-NanamiNeural",
  ko: "ko-KR-SunHiNeural",
  nb: "nb-NO-PernilleNeural",
  nl: "nl-NL-ColetteNeural",
  pl: "pl-PL-ZofiaNeural",
  pt: "pt-BR-FranciscaNeural",
  "pt-PT": "pt-PT-RaquelNeural",
  ro: "ro-RO-AlinaNeural",
  ru: "ru-RU-SvetlanaNeural",
  sv: "sv-SE-SofieNeural",
  th: "th-TH-PremwadeeNeural",
  tr: "tr-TR-EmelNeural",
  uk: "uk-UA-PolinaNeural",
  vi: "vi-VN-HoaiMyNeural",
  zh: "zh-CN-XiaoxiaoNeural",
};

const FALLBACK_VOICE = "en-US-AriaNeural";

const VOICE_NAME = /^[a-z]{2,3}-[A-Za-z-]+Neural$/;

/** The model if it is a voice's name, otherwise the configured voice, otherwise one that speaks the language. */
export function edgeVoice(
  modelId: string,
  configured: string | undefined,
  language: string,
): string {
  if (VOICE_NAME.test(modelId)) return modelId;
  if (configured !== undefined) return configured;
  return VOICES[language] ?? VOICES[language.split("-", 1)[0] ?? ""] ?? FALLBACK_VOICE;
}

const VENDOR = "edge";

const PUBLIC_URL = "wss://speech.platform.bing.com/consumer/speech/synthesize/readaloud/edge/v1";

const OPEN_TIMEOUT_MS = 10_000;

const MP3_FORMATS = ["audio-24khz-48kbitrate-mono-mp3", "audio-24khz-96kbitrate-mono-mp3"] as const;

/** The service changes its expectations now and then, so every constant can be configured. */
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

/** Sockets that may still receive a late message of an earlier sentence. */
const usedSockets = new WeakSet<VendorSocket>();

/** Microsoft's read-aloud service, without a key and without a guarantee: configure another vendor as fallback. */
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
      // No message cancels a turn, and the rest of it must not reach the next one.
      socket.destroy();
      throw error;
    }
    this.#pool.release(socket);
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
      // A token is valid for minutes only, and the refusal of a stale one contains the service's own time.
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
        connect: this.#context.connections.forSocket(this.#clientOwned, this.#orgId),
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
    // There is no key: the refused token is made of the clock and a version.
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

/** A piece of a text is not measured against the whole text. */
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

/** The service refused the token; rethrown when its own time did not help. */
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
