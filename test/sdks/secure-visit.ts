import { createRequire } from "node:module";
import type * as CartesiaSdk from "@cartesia/cartesia-js";
import { AssemblyAI, type TurnEvent } from "assemblyai";
import { speechFrames } from "./sdk-inputs.js";

// The SDK's module build looks for its WebSocket with `require`, which modules have not: its other build finds it.
const { Cartesia }: typeof CartesiaSdk = createRequire(import.meta.url)("@cartesia/cartesia-js");

// Run by itself: only a process that was started with the sandbox's authority believes in its certificate.
const [visit = "", url = "", key = ""] = process.argv.slice(2);

/** What both sides say; the SDKs take no address without TLS. */
const VISITS: Readonly<Record<string, () => Promise<unknown>>> = { assemblyai, cartesia };

const story = await VISITS[visit]?.().catch((error: unknown) => ({
  failed: error instanceof Error ? error.message : String(error),
}));
process.stdout.write(JSON.stringify(story));

async function assemblyai(): Promise<unknown> {
  const transcriber = new AssemblyAI({ apiKey: key }).streaming.transcriber({
    websocketBaseUrl: `${url}/v3/ws`,
    sampleRate: 16_000,
    encoding: "pcm_s16le",
    speechModel: "universal-3-5-pro",
    connectTimeout: 0,
    maxConnectionRetries: 0,
  });
  const turns: TurnEvent[] = [];
  transcriber.on("turn", (turn) => void turns.push(turn));
  const begun = await transcriber.connect();
  for (const chunk of chunks("Where is my order?")) transcriber.sendAudio(chunk);
  await transcriber.close();
  const ends = turns.filter((turn) => turn.end_of_turn).map(({ transcript }) => transcript);
  return { type: begun.type, ends };
}

/** The vendor takes no chunk under 50 ms. */
function chunks(text: string): ArrayBuffer[] {
  const silence = Array.from({ length: 100 }, () => new ArrayBuffer(640));
  const frames = [...speechFrames(text), ...silence].map((frame) => new Uint8Array(frame));
  const whole: ArrayBuffer[] = [];
  for (let at = 0; at + 5 <= frames.length; at += 5) {
    const chunk = new Uint8Array(5 * 640);
    for (const [n, frame] of frames.slice(at, at + 5).entries()) chunk.set(frame, n * 640);
    whole.push(chunk.buffer);
  }
  return whole;
}

async function cartesia(): Promise<unknown> {
  const baseURL = url.replace("wss:", "https:");
  const client = new Cartesia({ baseURL, token: key, maxRetries: 0 });
  const socket = await client.tts.websocket();
  const context = socket.context({
    model_id: "sonic-3.5",
    voice: { mode: "id", id: "a0e99841-438c-4a64-b679-ae501e7d6091" },
    output_format: { container: "raw", encoding: "pcm_s16le", sample_rate: 24_000 },
    add_timestamps: true,
  });
  await context.push({ transcript: "Your table " });
  await context.push({ transcript: "is booked." });
  await context.no_more_inputs();
  const audio: string[] = [];
  const words: string[] = [];
  for await (const event of context.receive()) {
    if (event.type === "chunk") audio.push(event.data);
    if (event.type === "timestamps") words.push(...(event.word_timestamps?.words ?? []));
  }
  socket.close();
  return { words, audio };
}
