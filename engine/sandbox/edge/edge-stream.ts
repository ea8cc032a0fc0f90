import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import * as v from "valibot";
import type { WebSocket } from "ws";
import { type EdgeFault, takeFault } from "../faults.js";
import type { SandboxContext } from "../simulator.js";
import { chunksOf, firstByteDelayMs } from "../sound/audio-stream.js";
import { SentPace } from "../sound/sent-pace.js";
import { bytesPerSecondOf, isSpeakable, speak, spoiltAudio } from "../sound/simulated-voice.js";
import { boundariesOf, type WantedBoundaries } from "./edge-boundaries.js";
import {
  EDGE_ID,
  edgeAudio,
  edgeText,
  parseEdgeText,
  parseSsml,
  type SpokenSsml,
} from "./edge-frame.js";

/** The piece of text of one request, with its entities. */
const TEXT_BYTES_MAX = 4096;
/** Requests that wait for the one being spoken; a client has no reason to queue more. */
const TURNS_MAX = 16;
const KBPS_OF_FORMAT: ReadonlyMap<string, 48 | 96> = new Map([
  ["audio-24khz-48kbitrate-mono-mp3", 48],
  ["audio-24khz-96kbitrate-mono-mp3", 96],
]);
/** About the handshake, and so already counted there. */
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

/** Clients write it as a word or as JSON's own. */
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

/** One socket of the service: a configuration, then any number of texts, spoken in turn. */
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
    const audio = await spoiltAudio(spoken, format, fault);
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

  /** Whether the turn ends here. After a stall in mid-stream the socket stays open and says nothing more. */
  #strike(fault: EdgeFault | undefined): boolean {
    if (fault === "disconnectMidStream") this.#socket.terminate();
    return fault === "disconnectMidStream" || fault === "stallMidStream";
  }
}
