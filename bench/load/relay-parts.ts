import { Agent, type IncomingMessage, type RequestOptions, request } from "node:http";
import { Agent as TlsAgent, request as tlsRequest } from "node:https";
import * as v from "valibot";
import { WebSocket, WebSocketServer } from "ws";

/** What both relays are made of: the least that can be between a caller and the three vendors. */
const SYSTEM = "You are a helpful voice assistant. Answer briefly.";
const CONNECTIONS_MAX = 2_000;

const Results = v.object({
  type: v.literal("Results"),
  speech_final: v.boolean(),
  channel: v.object({ alternatives: v.array(v.object({ transcript: v.string() })) }),
});
const Chunk = v.object({
  choices: v.array(v.object({ delta: v.object({ content: v.optional(v.string(), "") }) })),
});

const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX });
const tlsAgent = new TlsAgent({ keepAlive: true, maxSockets: CONNECTIONS_MAX });

/** Takes the audio of the reply in order, and undefined at the end of each sentence. */
export type OnAudio = (audio: Buffer | undefined) => void;

/** Where a sentence becomes sound, and how it is asked for. */
export interface Voice {
  readonly url: string;
  readonly bodyOf: (sentence: string) => object;
}

/** `format` is the encoding and rate of the caller's audio, as the recognizer's query names them. */
export function openRecognizer(deepgramUrl: string, format: string): WebSocket {
  const query = `model=nova-3&language=en&${format}&channels=1&interim_results=true&punctuate=true&endpointing=200&utterance_end_ms=1000&vad_events=true`;
  return new WebSocket(`${deepgramUrl}/v1/listen?${query}`, {
    headers: { authorization: "Token bench" },
    perMessageDeflate: false,
  });
}

/** What was heard so far; empty for messages without words. */
export function heardIn(data: Buffer): { readonly text: string; readonly isFinal: boolean } {
  const results = v.safeParse(Results, JSON.parse(data.toString("utf8")));
  if (!results.success) return { text: "", isFinal: false };
  const { channel, speech_final: isFinal } = results.output;
  return { text: channel.alternatives[0]?.transcript ?? "", isFinal };
}

/** Asks the model; the first sentence is spoken when it is whole, the rest at the end. Audio is passed on as it comes. */
export function answer(
  openAiBaseUrl: string,
  voice: Voice,
  text: string,
  onAudio: OnAudio,
): () => void {
  const stops: (() => void)[] = [];
  const order = new SentenceOrder(onAudio);
  const say = (sentence: string) => {
    stops.push(post(voice.url, voice.bodyOf(sentence), order.next()));
  };
  let unread = "";
  let reply = "";
  let isFirstSaid = false;
  const messages = [
    { role: "system", content: SYSTEM },
    { role: "user", content: text },
  ];
  const body = { model: "gpt-6-luna", messages, stream: true };
  stops.push(
    post(`${openAiBaseUrl}/chat/completions`, body, (chunk) => {
      if (chunk === undefined) {
        if (reply.trim() !== "") say(reply.trim());
        return;
      }
      const lines = (unread + chunk.toString("utf8")).split("\n");
      unread = lines.pop() ?? "";
      for (const line of lines) reply += tokenOf(line);
      const end = isFirstSaid ? -1 : reply.search(/[.!?]( |$)/);
      if (end < 0) return;
      isFirstSaid = true;
      say(reply.slice(0, end + 1));
      reply = reply.slice(end + 1);
    }),
  );
  return () => {
    for (const stop of stops) stop();
  };
}

/** Serves on a port of the system's choice, which it prints; the stand reads it there. */
export function serveRelay(relay: (caller: WebSocket, request: IncomingMessage) => void): void {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
  server.on("connection", relay);
  server.on("listening", () => {
    const address = server.address();
    if (address === null || typeof address === "string") throw new Error("the relay has no port");
    console.log(`the relay listens on http://127.0.0.1:${address.port}`);
  });
  process.once("SIGTERM", () => process.exit(0));
}

/** Passes the chunks of the first sentence on as they come; those of the next ones wait for the end of all before them. */
class SentenceOrder {
  readonly #onAudio: OnAudio;
  readonly #sentences: (Buffer | undefined)[][] = [];
  #playing = 0;

  constructor(onAudio: OnAudio) {
    this.#onAudio = onAudio;
  }

  /** For the next sentence: takes its chunks, and undefined at its end. */
  next(): (chunk: Buffer | undefined) => void {
    const waiting: (Buffer | undefined)[] = [];
    this.#sentences.push(waiting);
    return (chunk) => {
      waiting.push(chunk);
      this.#pass();
    };
  }

  #pass(): void {
    for (let chunks = this.#sentences[this.#playing]; chunks !== undefined; ) {
      let isOver = false;
      for (const chunk of chunks.splice(0)) {
        this.#onAudio(chunk);
        isOver = chunk === undefined;
      }
      if (!isOver) return;
      this.#playing += 1;
      chunks = this.#sentences[this.#playing];
    }
  }
}

const HEADERS = {
  authorization: "Bearer bench",
  "xi-api-key": "bench",
  "content-type": "application/json",
};

/** Calls back with every chunk, and with undefined at the end. */
function post(url: string, body: object, onChunk: (chunk: Buffer | undefined) => void): () => void {
  const options: RequestOptions = { method: "POST", headers: HEADERS };
  const sent = url.startsWith("https:")
    ? tlsRequest(url, { ...options, agent: tlsAgent })
    : request(url, { ...options, agent });
  sent.on("response", (response) => {
    response.on("data", onChunk);
    response.on("end", () => onChunk(undefined));
    response.on("error", () => undefined);
  });
  sent.on("error", () => undefined);
  sent.end(JSON.stringify(body));
  return () => sent.destroy();
}

function tokenOf(line: string): string {
  if (!line.startsWith("data: {")) return "";
  return v.parse(Chunk, JSON.parse(line.slice(6))).choices[0]?.delta.content ?? "";
}
