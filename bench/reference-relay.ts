import { Agent, request } from "node:http";
import * as v from "valibot";
import { type RawData, WebSocket, WebSocketServer } from "ws";

/**
 * The least that can be in the same place: audio to the recognizer, its words to the model, the first sentence to the
 * voice, the MP3 to the caller. No tenants, no history, no storage, no limits, no faults, no metrics. What Parley costs
 * more than this is the price of its features, and that is what the budgets bound.
 */
const Environment = v.object({ DEEPGRAM_URL: v.string(), OPENAI_BASE_URL: v.string() });
const { DEEPGRAM_URL, OPENAI_BASE_URL } = v.parse(Environment, process.env);

const LISTEN =
  "model=nova-3&language=en&encoding=linear16&sample_rate=16000&channels=1&interim_results=true&endpointing=200&utterance_end_ms=1000&vad_events=true";
const SYSTEM = "You are a helpful voice assistant. Answer briefly.";
const AUTHORIZATION = "Bearer bench";

const Results = v.object({
  type: v.literal("Results"),
  speech_final: v.boolean(),
  channel: v.object({ alternatives: v.array(v.object({ transcript: v.string() })) }),
});
const Chunk = v.object({
  choices: v.array(v.object({ delta: v.object({ content: v.optional(v.string(), "") }) })),
});

const agent = new Agent({ keepAlive: true, maxSockets: 1_000 });

/** Calls back with every chunk, and with undefined at the end. */
function post(
  path: string,
  body: object,
  onChunk: (chunk: Buffer | undefined) => void,
): () => void {
  const headers = { authorization: AUTHORIZATION, "content-type": "application/json" };
  const sent = request(`${OPENAI_BASE_URL}${path}`, { method: "POST", agent, headers });
  sent.on("response", (response) => {
    response.on("data", onChunk);
    response.on("end", () => onChunk(undefined));
    response.on("error", () => undefined);
  });
  sent.on("error", () => undefined);
  sent.end(JSON.stringify(body));
  return () => sent.destroy();
}

/** One sentence to the voice; its MP3 when it is whole. */
function synthesize(input: string, onAudio: (mp3: Buffer) => void): () => void {
  const chunks: Buffer[] = [];
  const body = {
    model: "gpt-4o-mini-tts",
    voice: "alloy",
    input,
    response_format: "mp3",
    speed: 1,
  };
  return post("/audio/speech", body, (chunk) => {
    if (chunk === undefined) onAudio(Buffer.concat(chunks));
    else chunks.push(chunk);
  });
}

/** Asks the model; the first sentence is spoken when it is whole, the rest at the end. */
function answer(caller: WebSocket, text: string, onSent: () => void): () => void {
  const stops: (() => void)[] = [];
  const ready: (Buffer | undefined)[] = [];
  const say = (sentence: string) => {
    const index = ready.push(undefined) - 1;
    stops.push(
      synthesize(sentence, (mp3) => {
        ready[index] = mp3;
        while (ready[sentCount] !== undefined && caller.readyState === WebSocket.OPEN) {
          caller.send(ready[sentCount] ?? "");
          sentCount += 1;
          onSent();
        }
      }),
    );
  };
  let sentCount = 0;
  let unread = "";
  let reply = "";
  let isFirstSaid = false;
  const messages = [
    { role: "system", content: SYSTEM },
    { role: "user", content: text },
  ];
  const body = { model: "gpt-4o-mini", messages, stream: true };
  stops.push(
    post("/chat/completions", body, (chunk) => {
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

function relay(caller: WebSocket): void {
  const ear = new WebSocket(`${DEEPGRAM_URL}/v1/listen?${LISTEN}`, {
    headers: { authorization: "Token bench" },
    perMessageDeflate: false,
  });
  let stop = () => {};
  let isSpeaking = false;
  ear.on("open", () => {
    caller.send(JSON.stringify({ type: "connected", agentName: "Relay", historyKey: "none" }));
  });
  ear.on("message", (data: Buffer) => {
    const results = v.safeParse(Results, JSON.parse(data.toString("utf8")));
    const text = results.success ? (results.output.channel.alternatives[0]?.transcript ?? "") : "";
    if (text === "") return;
    if (isSpeaking) {
      isSpeaking = false;
      stop();
      caller.send(JSON.stringify({ type: "audioStop" }));
    }
    if (!results.success || !results.output.speech_final) return;
    stop = answer(caller, text, () => {
      isSpeaking = true;
    });
  });
  ear.on("error", () => caller.close());
  ear.on("close", () => caller.close());
  caller.on("message", (audio: RawData) => {
    if (ear.readyState === WebSocket.OPEN) ear.send(audio);
  });
  caller.on("error", () => undefined);
  caller.on("close", () => {
    stop();
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
