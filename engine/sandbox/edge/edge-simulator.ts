import { createHash, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import * as v from "valibot";
import type { WebSocket } from "ws";
import type { Exchange } from "../exchange.js";
import { type EdgeFault, takeFault } from "../faults.js";
import { refuseUpgrade, type SandboxContext, type Simulator, type Upgrade } from "../simulator.js";
import { SimulatorSockets } from "../simulator-sockets.js";
import { chunksOf, firstByteDelayMs } from "../sound/audio-stream.js";
import { SentPace } from "../sound/sent-pace.js";
import {
  bytesPerSecondOf,
  corruptedAudio,
  isSpeakable,
  speak,
  speechSec,
} from "../sound/simulated-voice.js";

/** The message format of the Edge read-aloud service: `Name:Value` lines, an empty line, a body. */
export interface EdgeMessage {
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** The id of a connection or a request: clients write it with and without dashes. */
export const EDGE_ID = /^[0-9a-f]{8}(-?)[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{4}\1[0-9a-f]{12}$/i;

/** Header names in lower case. Undefined if there is no empty line. */
export function parseEdgeText(text: string): EdgeMessage | undefined {
  const end = text.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const lines = text.slice(0, end).split("\r\n");
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
  return { headers, body: text.slice(end + 4) };
}

export function edgeText(requestId: string, path: string, body: object): string {
  const type = "application/json; charset=utf-8";
  return `X-RequestId:${requestId}\r\nContent-Type:${type}\r\nPath:${path}\r\n\r\n${JSON.stringify(body)}`;
}

/** Two bytes of length, the header, the audio. A frame without audio is the last, and has no Content-Type. */
export function edgeAudio(requestId: string, streamId: string, audio: Uint8Array): Buffer {
  const type = audio.length === 0 ? "" : "Content-Type:audio/mpeg\r\n";
  const header = `X-RequestId:${requestId}\r\n${type}X-StreamId:${streamId}\r\nPath:audio\r\n`;
  const length = Buffer.alloc(2);
  length.writeUInt16BE(header.length);
  return Buffer.concat([length, Buffer.from(header, "ascii"), audio]);
}

export interface SpokenSsml {
  readonly text: string;
  /** The size of the text in the markup. */
  readonly escapedBytes: number;
  readonly voice: string;
  /** 1 = the voice's default. */
  readonly speed: number;
}

const SSML =
  /^<speak\b[^>]*>\s*<voice\s+name\s*=\s*(['"])(.+?)\1\s*>\s*<prosody\b([^>]*)>([^<]*)<\/prosody>\s*<\/voice>\s*<\/speak>\s*$/s;
const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

/** The speeds of SSML's names for a rate. */
const NAMED_RATES: ReadonlyMap<string, number> = new Map([
  ["x-slow", 0.5],
  ["slow", 0.7],
  ["medium", 1],
  ["default", 1],
  ["fast", 1.4],
  ["x-fast", 2],
]);
const SPEED_MIN = 0.25;

/** Undefined for everything that the service refuses: other elements, unescaped text, an invalid rate. */
export function parseSsml(ssml: string): SpokenSsml | undefined {
  const found = SSML.exec(ssml);
  if (found === null) return undefined;
  const [, , voice = "", attributes = "", escaped = ""] = found;
  if (/&(?!(?:amp|lt|gt|quot|apos|#\d+|#x[\da-f]+);)/i.test(escaped)) return undefined;
  const speed = speedOf(/\brate\s*=\s*['"]([^'"]*)['"]/.exec(attributes)?.[1] ?? "default");
  if (speed === undefined) return undefined;
  const text = escaped
    .trim()
    .replace(/&(\w+|#\d+|#x[\da-f]+);/gi, (_, name: string) => entity(name));
  return { text, escapedBytes: Buffer.byteLength(escaped), voice, speed };
}

/** `+10%` is relative, a bare number is a factor, and some rates have names. */
function speedOf(rate: string): number | undefined {
  const isRelative = /^[+-]\d+(?:\.\d+)?%$/.test(rate);
  if (isRelative) return Math.max(SPEED_MIN, 1 + Number.parseFloat(rate) / 100);
  if (/^\d+(?:\.\d+)?$/.test(rate)) return Math.max(SPEED_MIN, Number(rate));
  return NAMED_RATES.get(rate);
}

function entity(name: string): string {
  if (!name.startsWith("#")) return ENTITIES[name.toLowerCase()] ?? "";
  const isHex = name[1]?.toLowerCase() === "x";
  const codePoint = Number.parseInt(name.slice(isHex ? 2 : 1), isHex ? 16 : 10);
  return codePoint <= 0x10ffff ? String.fromCodePoint(codePoint) : "\uFFFD";
}

const BOUNDARY_TICKS_PER_SEC = 10_000_000;

/** The kinds of boundaries that a client requests. */
export interface WantedBoundaries {
  readonly words: boolean;
  readonly sentences: boolean;
}

interface Boundary {
  readonly Type: "WordBoundary" | "SentenceBoundary";
  readonly Data: {
    readonly Offset: number;
    readonly Duration: number;
    readonly text: {
      readonly Text: string;
      readonly Length: number;
      readonly BoundaryType: "WordBoundary" | "SentenceBoundary";
    };
  };
}

/** The positions of the parts in the audio, in ticks of 100 ns; every character takes an equal part of the whole. */
export function boundariesOf(
  { text, speed }: SpokenSsml,
  { words, sentences }: WantedBoundaries,
): readonly Boundary[] {
  const durationSec = speechSec(text, speed);
  const ticksPerCharacter = (durationSec * BOUNDARY_TICKS_PER_SEC) / Math.max(1, text.length);
  const place = (kind: Boundary["Type"], part: string, at: number): Boundary => ({
    Type: kind,
    Data: {
      Offset: Math.round(at * ticksPerCharacter),
      Duration: Math.round(part.length * ticksPerCharacter),
      text: { Text: part, Length: part.length, BoundaryType: kind },
    },
  });
  const find = (kind: Boundary["Type"], pattern: RegExp): readonly Boundary[] =>
    Array.from(text.matchAll(pattern), (found) => place(kind, found[0], found.index));
  return [
    ...(words ? find("WordBoundary", /[\p{L}\p{N}'’-]+/gu) : []),
    ...(sentences ? find("SentenceBoundary", /\S[^.!?]*[.!?]*/gu) : []),
  ];
}

/** The piece of text of one request, with its entities. */
const TEXT_BYTES_MAX = 4096;
/** Requests that wait for the current one; a client has no reason to queue more. */
const TURNS_MAX = 16;
const KBPS_OF_FORMAT: ReadonlyMap<string, 48 | 96> = new Map([
  ["audio-24khz-48kbitrate-mono-mp3", 48],
  ["audio-24khz-96kbitrate-mono-mp3", 96],
]);
/** Faults of the handshake, which are already counted there. */
const TURN_FAULTS: readonly EdgeFault[] = [
  "stallBeforeFirstByte",
  "stallMidStream",
  "disconnectBeforeFirstByte",
  "disconnectMidStream",
  "slow",
  "garbage",
  "turnEndWithoutAudio",
  "silentAudio",
  "halfAudio",
  "turnEndEarly",
  "turnEndTwice",
  "closeWithoutTurnEnd",
  "neverTurnEnd",
];

/** Clients send it as a word or as a JSON boolean. */
const Flag = v.union([
  v.boolean(),
  v.pipe(
    v.picklist(["true", "false"]),
    v.transform((word) => word === "true"),
  ),
]);

const Config = v.object({
  context: v.object({
    synthesis: v.object({
      audio: v.object({
        metadataoptions: v.object({
          sentenceBoundaryEnabled: Flag,
          wordBoundaryEnabled: Flag,
        }),
        outputFormat: v.string(),
      }),
    }),
  }),
});

/** One socket of the service: a configuration, then any number of texts, spoken one after the other. */
export class EdgeStream {
  readonly #context: SandboxContext;
  readonly #socket: WebSocket;
  #kbps: 48 | 96 | undefined;
  #boundaries: WantedBoundaries = { words: false, sentences: false };
  #turns = 0;
  #speaking: Promise<void> = Promise.resolve();

  constructor(context: SandboxContext, socket: WebSocket) {
    this.#context = context;
    this.#socket = socket;
  }

  start(): void {
    this.#socket.on("message", (data: Buffer, isBinary) => {
      if (isBinary) this.#socket.close(1003, "text expected");
      else this.#receive(data.toString("utf8"));
    });
    // A broken frame or a reset connection: `ws` closes the socket itself.
    this.#socket.on("error", () => undefined);
  }

  #receive(text: string): void {
    const message = parseEdgeText(text);
    const path = message?.headers.get("path");
    if (message !== undefined && path === "speech.config") this.#configure(message.body);
    else if (message !== undefined && path === "ssml") {
      this.#enqueue(message.headers.get("x-requestid") ?? "", message.body);
    } else this.#socket.close(1007, "no known Path");
  }

  #configure(body: string): void {
    const config = v.safeParse(v.pipe(v.string(), v.parseJson(), Config), body);
    const audio = config.success ? config.output.context.synthesis.audio : undefined;
    this.#kbps = KBPS_OF_FORMAT.get(audio?.outputFormat ?? "");
    const wanted = audio?.metadataoptions;
    this.#boundaries = {
      words: wanted?.wordBoundaryEnabled ?? false,
      sentences: wanted?.sentenceBoundaryEnabled ?? false,
    };
    if (this.#kbps === undefined) this.#socket.close(1007, "Unsupported output format.");
  }

  #enqueue(requestId: string, body: string): void {
    const ssml = parseSsml(body);
    if (this.#kbps === undefined) this.#socket.close(1007, "speech.config comes first");
    else if (!EDGE_ID.test(requestId)) this.#socket.close(1007, "X-RequestId expected");
    else if (ssml === undefined) this.#socket.close(1007, "SSML cannot be parsed.");
    else if (ssml.escapedBytes > TEXT_BYTES_MAX || this.#turns >= TURNS_MAX) {
      this.#socket.close(1009, "too much text");
    } else {
      const request = this.#context.journal.nextRequest();
      this.#context.journal.record("edge", "request", request, ssml.text);
      const kbps = this.#kbps;
      this.#turns += 1;
      this.#speaking = this.#speaking
        .then(() => this.#speak(requestId, request, ssml, kbps))
        .catch(() => this.#socket.close(1011, "internal error"))
        .finally(() => {
          this.#turns -= 1;
        });
    }
  }

  async #speak(requestId: string, request: number, ssml: SpokenSsml, kbps: 48 | 96): Promise<void> {
    const { faults, journal } = this.#context;
    const fault = takeFault(faults, "edge", TURN_FAULTS);
    const streamId = randomUUID().replaceAll("-", "").toUpperCase();
    if (fault === "stallBeforeFirstByte") return;
    const format = { codec: "mp3", sampleRateHz: 24_000, kbps, speed: ssml.speed } as const;
    const spoken = isSpeakable(ssml.text) ? await speak(ssml.text, format) : new Uint8Array();
    const pace = new SentPace();
    const voice = {
      bytesPerSecond: bytesPerSecondOf(format),
      delays: () => faults.edge,
      fault,
      pace,
    };
    await sleep(firstByteDelayMs(faults.edge, fault), undefined, { ref: false });
    if (fault === "disconnectBeforeFirstByte") {
      this.#socket.terminate();
      return;
    }
    this.#socket.send(edgeText(requestId, "turn.start", { context: { serviceTag: streamId } }));
    const response = { context: { serviceTag: streamId }, audio: { type: "inline", streamId } };
    this.#socket.send(edgeText(requestId, "response", response));
    const audio = await corruptedAudio(spoken, format, fault);
    let isFirst = true;
    for await (const chunk of chunksOf(audio, voice)) {
      if (this.#socket.readyState !== this.#socket.OPEN) {
        journal.record("edge", "aborted", request);
        return;
      }
      if (isFirst) journal.record("edge", "firstByte", request);
      this.#socket.send(edgeAudio(requestId, streamId, chunk));
      if (isFirst) this.#sendBoundaries(requestId, ssml);
      if (isFirst && fault === "turnEndEarly") this.#end(requestId);
      isFirst = false;
      if (this.#strike(fault)) return;
    }
    if (audio.length > 0) this.#socket.send(edgeAudio(requestId, streamId, new Uint8Array()));
    if (fault === "closeWithoutTurnEnd") this.#socket.close(1000);
    else if (fault !== "neverTurnEnd") this.#end(requestId);
    if (fault === "turnEndTwice") this.#end(requestId);
    journal.record("edge", "lastByte", request, pace.text);
  }

  #end(requestId: string): void {
    this.#socket.send(edgeText(requestId, "turn.end", {}));
  }

  #sendBoundaries(requestId: string, ssml: SpokenSsml): void {
    for (const boundary of boundariesOf(ssml, this.#boundaries)) {
      this.#socket.send(edgeText(requestId, "audio.metadata", { Metadata: [boundary] }));
    }
  }

  /** Whether the turn ends here. After a stall in mid-stream the socket stays open and sends nothing more. */
  #strike(fault: EdgeFault | undefined): boolean {
    if (fault === "disconnectMidStream") this.#socket.terminate();
    return fault === "disconnectMidStream" || fault === "stallMidStream";
  }
}

/** Public in every client of this service; it identifies the product, not a user. */
export const EDGE_TRUSTED_CLIENT_TOKEN = "6A5AA1D4EAFF4E9FB37E23D68491D6F4";
/** The seconds from 1601 to 1970. */
const EPOCH_OFFSET_SEC = 11_644_473_600n;
const STEP_SEC = 300n;
const TICKS_PER_SEC = 10_000_000n;

/** The `Sec-MS-GEC` that is valid at this moment, and for the rest of its five minutes. */
export function edgeToken(epochMs: number, stepsAway = 0): string {
  const seconds = BigInt(Math.floor(epochMs / 1000)) + EPOCH_OFFSET_SEC;
  const step = seconds - (seconds % STEP_SEC) + BigInt(stepsAway) * STEP_SEC;
  const hashed = `${step * TICKS_PER_SEC}${EDGE_TRUSTED_CLIENT_TOKEN}`;
  return createHash("sha256").update(hashed, "ascii").digest("hex").toUpperCase();
}

/** The service's list, as far as the sandbox has one: any voice's name works. */
export function edgeVoices(): readonly object[] {
  return [
    voice("en-US-AriaNeural", "en-US", "Female"),
    voice("en-US-EmmaMultilingualNeural", "en-US", "Female"),
    voice("es-ES-AlvaroNeural", "es-ES", "Male"),
  ];
}

function voice(ShortName: string, Locale: string, Gender: string): object {
  return {
    Name: `Microsoft Server Speech Text to Speech Voice (${Locale}, ${ShortName.slice(6)})`,
    ShortName,
    Gender,
    Locale,
    SuggestedCodec: "audio-24khz-48kbitrate-mono-mp3",
    FriendlyName: `${ShortName} of the sandbox`,
    Status: "GA",
    VoiceTag: { ContentCategories: ["General"], VoicePersonalities: ["Friendly"] },
  };
}

const MESSAGE_BYTES_MAX = 64 * 1024;
const SERVICE_PATH = "/consumer/speech/synthesize/readaloud/edge/v1";
const VOICES_PATH = "/consumer/speech/synthesize/readaloud/voices/list";
/** The service refuses older browsers. */
const BROWSER_MAJOR_MIN = 140;
/** How far the vendor's clock is ahead under the fault `clockSkew`: two steps of the token. */
const SKEW_MS = 600_000;

/** The read-aloud service of Microsoft Edge, as its unofficial clients know it. */
export class EdgeSimulator implements Simulator {
  readonly #context: SandboxContext;
  readonly #sockets = new SimulatorSockets(MESSAGE_BYTES_MAX);

  constructor(context: SandboxContext) {
    this.#context = context;
  }

  handleUpgrade(upgrade: Upgrade): void {
    const fault = takeFault(this.#context.faults, "edge", [
      "unauthorized",
      "clockSkew",
      "rateLimited",
      "serverError",
    ]);
    const skewMs = fault === "clockSkew" ? SKEW_MS : (this.#context.faults.edge.skewMs ?? 0);
    const nowMs = Date.now() + skewMs;
    const headers = { Date: new Date(nowMs).toUTCString() };
    if (upgrade.url.pathname !== SERVICE_PATH) refuseUpgrade(upgrade, 404, "", headers);
    else if (fault === "rateLimited") refuseUpgrade(upgrade, 429, "", headers);
    else if (fault === "serverError") refuseUpgrade(upgrade, 503, "", headers);
    else if (fault === "unauthorized" || !isTrusted(upgrade.url.searchParams, nowMs)) {
      refuseUpgrade(upgrade, 403, "", headers);
    } else {
      this.#sockets.accept(upgrade, (socket) => {
        new EdgeStream(this.#context, socket).start();
      });
    }
  }

  async handleRequest(exchange: Exchange): Promise<void> {
    const nowMs = Date.now() + (this.#context.faults.edge.skewMs ?? 0);
    const headers = { Date: new Date(nowMs).toUTCString() };
    const query = exchange.url.searchParams;
    const token = query.get("Sec-MS-GEC");
    const isTrusted =
      query.get("trustedclienttoken") === EDGE_TRUSTED_CLIENT_TOKEN &&
      (token === null || isTokenGood(token, nowMs));
    if (exchange.url.pathname !== VOICES_PATH) exchange.answerText(404, "", headers);
    else if (isTrusted) exchange.answerJson(200, edgeVoices(), headers);
    else exchange.answerText(403, "", headers);
  }

  close(): void {
    this.#sockets.close();
  }
}

function isTrusted(query: URLSearchParams, nowMs: number): boolean {
  const major = Number(/^1-(\d+)\./.exec(query.get("Sec-MS-GEC-Version") ?? "")?.[1]);
  return (
    query.get("TrustedClientToken") === EDGE_TRUSTED_CLIENT_TOKEN &&
    EDGE_ID.test(query.get("ConnectionId") ?? "") &&
    major >= BROWSER_MAJOR_MIN &&
    isTokenGood(query.get("Sec-MS-GEC"), nowMs)
  );
}

/** A token may be one step old or early, since clocks differ. */
function isTokenGood(token: string | null, nowMs: number): boolean {
  return [0, -1, 1].some((steps) => edgeToken(nowMs, steps) === token);
}
