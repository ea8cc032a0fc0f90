import { Agent, request } from "node:http";
import * as v from "valibot";
import { WebSocket, WebSocketServer } from "ws";

/**
 * The least that can be in the same place on a telephone line: Twilio's frames to the recognizer, its words to the model,
 * the first sentence to a voice that speaks µ-law, its audio back in paced frames. No tenants, no history, no storage, no
 * limits, no faults, no metrics, and no marks. What Parley costs more than this is the price of its features.
 */
const Environment = v.object({
  DEEPGRAM_URL: v.string(),
  OPENAI_BASE_URL: v.string(),
  ELEVENLABS_BASE_URL: v.string(),
});
const { DEEPGRAM_URL, OPENAI_BASE_URL, ELEVENLABS_BASE_URL } = v.parse(Environment, process.env);

const LISTEN =
  "model=nova-3&language=en&encoding=mulaw&sample_rate=8000&channels=1&interim_results=true&endpointing=200&utterance_end_ms=1000&vad_events=true";
const SYSTEM = "You are a helpful voice assistant. Answer briefly.";
const HEADERS = {
  authorization: "Bearer bench",
  "xi-api-key": "bench",
  "content-type": "application/json",
};
const FRAME_BYTES = 160;
const FRAME_MS = 20;
const SEND_AHEAD_MS = 160;

const Results = v.object({
  type: v.literal("Results"),
  speech_final: v.boolean(),
  channel: v.object({ alternatives: v.array(v.object({ transcript: v.string() })) }),
});
const Chunk = v.object({
  choices: v.array(v.object({ delta: v.object({ content: v.optional(v.string(), "") }) })),
});
const FromPhone = v.variant("event", [
  v.object({ event: v.literal("start"), streamSid: v.string() }),
  v.object({ event: v.literal("media"), media: v.object({ payload: v.string() }) }),
]);

const agent = new Agent({ keepAlive: true, maxSockets: 2_000 });

/** Calls back with every chunk, and with undefined at the end. */
function post(url: string, body: object, onChunk: (chunk: Buffer | undefined) => void): () => void {
  const sent = request(url, { method: "POST", agent, headers: HEADERS });
  sent.on("response", (response) => {
    response.on("data", onChunk);
    response.on("end", () => onChunk(undefined));
    response.on("error", () => undefined);
  });
  sent.on("error", () => undefined);
  sent.end(JSON.stringify(body));
  return () => sent.destroy();
}

/** One sentence to the voice; its audio when it is whole. */
function synthesize(text: string, onAudio: (mulaw: Buffer) => void): () => void {
  const url = `${ELEVENLABS_BASE_URL}/v1/text-to-speech/bench/stream?output_format=ulaw_8000`;
  const chunks: Buffer[] = [];
  return post(url, { text, model_id: "eleven_flash_v2_5" }, (chunk) => {
    if (chunk === undefined) onAudio(Buffer.concat(chunks));
    else chunks.push(chunk);
  });
}

/** Asks the model; the first sentence is spoken when it is whole, the rest at the end. */
function answer(text: string, onAudio: (mulaw: Buffer) => void): () => void {
  const stops: (() => void)[] = [];
  const ready: (Buffer | undefined)[] = [];
  let sentCount = 0;
  const say = (sentence: string) => {
    const index = ready.push(undefined) - 1;
    stops.push(
      synthesize(sentence, (mulaw) => {
        ready[index] = mulaw;
        for (let next = ready[sentCount]; next !== undefined; next = ready[sentCount]) {
          onAudio(next);
          sentCount += 1;
        }
      }),
    );
  };
  let unread = "";
  let reply = "";
  let isFirstSaid = false;
  const messages = [
    { role: "system", content: SYSTEM },
    { role: "user", content: text },
  ];
  const body = { model: "gpt-4o-mini", messages, stream: true };
  stops.push(
    post(`${OPENAI_BASE_URL}/chat/completions`, body, (chunk) => {
      if (chunk === undefined) {
        if (reply.trim() !== "") say(reply.trim());
        return;
      }
      const lines = (unread + chunk.toString("utf8")).split("\n");
      unread = lines.pop() ?? "";
      for (const line of lines) reply += tokenOf(line);
      const end = isFirstSaid ? -1 : reply.search(/[.!?] /);
      if (end < 0) return;
      isFirstSaid = true;
      say(reply.slice(0, end + 1));
      reply = reply.slice(end + 2);
    }),
  );
  return () => {
    for (const stop of stops) stop();
  };
}

function tokenOf(line: string): string {
  if (!line.startsWith("data: {")) return "";
  return v.parse(Chunk, JSON.parse(line.slice(6))).choices[0]?.delta.content ?? "";
}

/** Sends audio in frames of 20 ms, a little ahead of the ear, with a timer of its own. */
class Mouth {
  streamSid = "";
  readonly #phone: WebSocket;
  #audio: Buffer = Buffer.alloc(0);
  #nextMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(phone: WebSocket) {
    this.#phone = phone;
  }

  play(audio: Buffer): void {
    this.#audio = Buffer.concat([this.#audio, audio]);
    this.#nextMs = Math.max(this.#nextMs, performance.now());
    this.#timer ??= setInterval(() => this.#sendDue(), FRAME_MS);
    this.#sendDue();
  }

  /** Whether there was anything to stop. */
  stop(): boolean {
    const wasPlaying = this.#nextMs > performance.now();
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#audio = Buffer.alloc(0);
    this.#nextMs = 0;
    if (wasPlaying) this.#send({ event: "clear", streamSid: this.streamSid });
    return wasPlaying;
  }

  #sendDue(): void {
    while (this.#audio.length > 0 && this.#nextMs < performance.now() + SEND_AHEAD_MS) {
      const payload = this.#audio.subarray(0, FRAME_BYTES).toString("base64");
      this.#send({ event: "media", streamSid: this.streamSid, media: { payload } });
      this.#audio = this.#audio.subarray(FRAME_BYTES);
      this.#nextMs += FRAME_MS;
    }
    if (this.#audio.length > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #send(message: object): void {
    if (this.#phone.readyState === WebSocket.OPEN) this.#phone.send(JSON.stringify(message));
  }
}

function relay(phone: WebSocket): void {
  const headers = { authorization: "Token bench" };
  const ear = new WebSocket(`${DEEPGRAM_URL}/v1/listen?${LISTEN}`, {
    headers,
    perMessageDeflate: false,
  });
  const mouth = new Mouth(phone);
  let stop = () => {};
  ear.on("message", (data: Buffer) => {
    const results = v.safeParse(Results, JSON.parse(data.toString("utf8")));
    const text = results.success ? (results.output.channel.alternatives[0]?.transcript ?? "") : "";
    if (text === "") return;
    if (mouth.stop()) stop();
    if (!results.success || !results.output.speech_final) return;
    stop = answer(text, (mulaw) => mouth.play(mulaw));
  });
  ear.on("error", () => phone.close());
  ear.on("close", () => phone.close());
  phone.on("message", (data: Buffer) => {
    const message = v.safeParse(FromPhone, JSON.parse(data.toString("utf8")));
    if (!message.success) return;
    if (message.output.event === "start") mouth.streamSid = message.output.streamSid;
    else if (ear.readyState === WebSocket.OPEN) {
      ear.send(Buffer.from(message.output.media.payload, "base64"));
    }
  });
  phone.on("error", () => undefined);
  phone.on("close", () => {
    stop();
    mouth.stop();
    ear.close();
  });
}

const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
server.on("connection", relay);
server.on("listening", () => {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the relay has no port");
  console.log(`the relay listens on http://127.0.0.1:${address.port}`);
});
process.once("SIGTERM", () => process.exit(0));
