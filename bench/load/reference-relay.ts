import type { IncomingMessage } from "node:http";
import * as v from "valibot";
import { type RawData, WebSocket } from "ws";
import { answer, heardIn, openRecognizer, serveRelay, type Voice } from "./relay-parts.js";

/**
 * The least that can be in the same place: audio to the recognizer, its words to the model, the first sentence to the
 * voice, its MP3 to the caller as a whole, or its PCM as it comes for a caller who asks for a stream. No tenants, no history, no storage, no limits, no faults, no metrics. What Parley costs
 * more than this is the price of its features, and that is what the budgets bound.
 */
const Environment = v.object({ DEEPGRAM_URL: v.string(), OPENAI_BASE_URL: v.string() });
const { DEEPGRAM_URL, OPENAI_BASE_URL } = v.parse(Environment, process.env);

const voiceIn = (response_format: "mp3" | "pcm"): Voice => ({
  url: `${OPENAI_BASE_URL}/audio/speech`,
  bodyOf: (input) => ({
    model: "gpt-4o-mini-tts",
    voice: "alloy",
    input,
    response_format,
    speed: 1,
  }),
});

function relay(caller: WebSocket, { url = "" }: IncomingMessage): void {
  const isStreamed = url.includes("audio=stream");
  const voice = voiceIn(isStreamed ? "pcm" : "mp3");
  let turnId = 0;
  const recognizer = openRecognizer(DEEPGRAM_URL, "encoding=linear16&sample_rate=16000");
  let stop = () => {};
  let isSpeaking = false;
  recognizer.on("open", () => {
    caller.send(JSON.stringify({ type: "connected", agentName: "Relay", historyKey: "none" }));
  });
  recognizer.on("message", (data: Buffer) => {
    const { text, isFinal } = heardIn(data);
    if (text === "") return;
    if (isSpeaking) {
      isSpeaking = false;
      stop();
      caller.send(JSON.stringify({ type: "audioStop" }));
    }
    if (!isFinal) return;
    const mp3: Buffer[] = [];
    let hasBegun = false;
    const pass = (audio: Buffer) => {
      if (caller.readyState !== WebSocket.OPEN) return;
      if (isStreamed && !hasBegun) {
        turnId += 1;
        const encoding = "pcm24k";
        caller.send(JSON.stringify({ type: "audioStart", turnId, encoding, sampleRateHz: 24_000 }));
      }
      hasBegun = true;
      isSpeaking = true;
      caller.send(audio);
    };
    stop = answer(OPENAI_BASE_URL, voice, text, (chunk) => {
      if (isStreamed) {
        if (chunk !== undefined) pass(chunk);
      } else if (chunk !== undefined) mp3.push(chunk);
      else pass(Buffer.concat(mp3.splice(0)));
    });
  });
  recognizer.on("error", () => caller.close());
  recognizer.on("close", () => caller.close());
  caller.on("message", (audio: RawData) => {
    if (recognizer.readyState === WebSocket.OPEN) recognizer.send(audio);
  });
  caller.on("error", () => undefined);
  caller.on("close", () => {
    stop();
    recognizer.close();
  });
}

serveRelay(relay);
