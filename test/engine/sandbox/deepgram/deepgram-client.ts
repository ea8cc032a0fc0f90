import type { IncomingMessage } from "node:http";
import * as v from "valibot";
import { WebSocket } from "ws";
import { bytesOf } from "../../../../engine/sandbox/telephone/telephone-audio.js";

const Message = v.looseObject({
  type: v.string(),
  is_final: v.optional(v.boolean()),
  speech_final: v.optional(v.boolean()),
  from_finalize: v.optional(v.boolean()),
  start: v.optional(v.number()),
  duration: v.optional(v.number()),
  last_word_end: v.optional(v.number()),
  timestamp: v.optional(v.number()),
  channel: v.optional(
    v.union([
      v.array(v.number()),
      v.object({
        alternatives: v.tuple([
          v.object({
            transcript: v.string(),
            words: v.array(v.looseObject({ word: v.string(), start: v.number(), end: v.number() })),
          }),
        ]),
      }),
    ]),
  ),
});
export type DeepgramMessage = v.InferOutput<typeof Message>;

export const ALL_ON =
  "model=nova-3&encoding=linear16&sample_rate=16000&interim_results=true&punctuate=true&endpointing=200&utterance_end_ms=1000&vad_events=true";

const FRAME_SAMPLES = 320;

/** Speaks the documented protocol and nothing else: no client library, and not the product's own client. */
export class RawDeepgramClient {
  readonly socket: WebSocket;
  readonly texts: string[] = [];
  readonly closed: Promise<{ readonly code: number; readonly reason: string }>;
  #wake: (() => void) | undefined;

  static async open(base: string, query = ALL_ON, key = "dg_key"): Promise<RawDeepgramClient> {
    const client = new RawDeepgramClient(base, query, key);
    await new Promise((resolve, reject) => {
      client.socket.once("open", resolve);
      client.socket.once("error", reject);
    });
    return client;
  }

  private constructor(base: string, query: string, key: string) {
    this.socket = new WebSocket(`${base}/v1/listen?${query}`, {
      headers: { authorization: `Token ${key}` },
    });
    this.socket.on("message", (data: Buffer) => {
      this.texts.push(data.toString("utf8"));
      this.#wake?.();
    });
    this.closed = new Promise((resolve) => {
      this.socket.once("close", (code, reason) =>
        resolve({ code, reason: reason.toString("utf8") }),
      );
    });
  }

  get messages(): DeepgramMessage[] {
    return this.texts.map((text) => v.parse(v.pipe(v.string(), v.parseJson(), Message), text));
  }

  hear(pcm: Int16Array): void {
    for (let at = 0; at < pcm.length; at += FRAME_SAMPLES) {
      this.socket.send(bytesOf(pcm.subarray(at, at + FRAME_SAMPLES)));
    }
  }

  control(type: string): void {
    this.socket.send(JSON.stringify({ type }));
  }

  /** Waits for the first message that fits. */
  async message(fits: (message: DeepgramMessage) => boolean): Promise<DeepgramMessage> {
    for (;;) {
      const found = this.messages.find(fits);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  /** Sends CloseStream, waits for the end and gives all messages. */
  async finish(): Promise<DeepgramMessage[]> {
    this.control("CloseStream");
    await this.closed;
    return this.messages;
  }
}

/** The transcript of a Results message, else the empty text. */
export function transcriptOf({ channel }: DeepgramMessage): string {
  return channel === undefined || Array.isArray(channel) ? "" : channel.alternatives[0].transcript;
}

/** The story of a stream in one line a message. */
export function storyOf(messages: readonly DeepgramMessage[]): string[] {
  return messages.map((message) => {
    if (message.type !== "Results") return message.type;
    const kind = message.speech_final ? "speech_final" : message.is_final ? "final" : "interim";
    return `${kind} ${transcriptOf(message)}`.trim();
  });
}

export interface RefusedUpgrade {
  readonly status: number | undefined;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

export function refusedUpgrade(
  url: string,
  headers: Record<string, string>,
): Promise<RefusedUpgrade> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { headers });
    socket.on("open", () => reject(new Error("the upgrade was accepted")));
    socket.on("error", () => undefined);
    socket.on("unexpected-response", (_request, response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        body += chunk;
      });
      response.on("end", () => {
        resolve({ status: response.statusCode, headers: response.headers, body });
      });
    });
  });
}
