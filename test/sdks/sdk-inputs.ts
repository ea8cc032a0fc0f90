import { EDGE_TRUSTED_CLIENT_TOKEN } from "../../engine/sandbox/edge/edge-simulator.js";
import { wavHeader } from "../../engine/sandbox/sound/wav-header.js";
import { bytesOf } from "../../engine/sandbox/telephone/telephone-audio.js";
import { encodeSpeech } from "../../engine/sandbox/telephone/tone-code.js";

const WAV_RATE_HZ = 16_000;

/** A WAV file of 16-bit samples, one channel, that says the text in the tone code. */
export function wavOf(text: string, sampleRateHz = WAV_RATE_HZ): Buffer {
  const samples = bytesOf(encodeSpeech(text, sampleRateHz));
  return Buffer.concat([wavHeader(sampleRateHz, samples.length), samples]);
}

/** A tool with one argument, in the form that OpenAI, Groq and Ollama take. */
export function functionTool(name: string) {
  return {
    type: "function" as const,
    function: {
      name,
      description: "Finds an order.",
      parameters: {
        type: "object",
        properties: { order: { type: "string", description: "The order's number." } },
        required: ["order"],
      },
    },
  };
}

const FRAME_SAMPLES = 320;

/** 16-bit samples of 16 kHz that say the text in the tone code, in frames of 20 ms. */
export function speechFrames(text: string): ArrayBuffer[] {
  const samples = encodeSpeech(text, WAV_RATE_HZ);
  const frames: ArrayBuffer[] = [];
  for (let at = 0; at < samples.length; at += FRAME_SAMPLES) {
    frames.push(samples.slice(at, at + FRAME_SAMPLES).buffer);
  }
  return frames;
}

/** Where the Edge service lists its voices, with the token that its clients send. */
export function voicesUrlOf(edgeUrl: string): string {
  const list = edgeUrl.replace("ws:", "http:").replace("edge/v1", "voices/list");
  return `${list}?trustedclienttoken=${EDGE_TRUSTED_CLIENT_TOKEN}`;
}

/** Where a call of `fetch` goes. */
export function addressOf(input: Parameters<typeof fetch>[0]): string {
  if (typeof input === "string") return input;
  return input instanceof URL ? input.href : input.url;
}
