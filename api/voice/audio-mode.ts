import { MULAW_8K, PCM_16K, PCM_24K } from "../../engine/audio/audio-format.js";

/**
 * The formats in which a browser can receive the agent's audio, by the contract's names: µ-law is for clients that
 * pay by the byte.
 */
export const STREAM_FORMATS = { pcm24k: PCM_24K, pcm16k: PCM_16K, mulaw: MULAW_8K } as const;

export type StreamEncoding = keyof typeof STREAM_FORMATS;

const DEFAULT_ENCODING: StreamEncoding = "pcm24k";

/** The requested form of the agent's audio: whole sentences, or a stream; or what is wrong with the request. */
export type AudioMode =
  | { readonly type: "sentences" }
  | { readonly type: "stream"; readonly encoding: StreamEncoding }
  | { readonly type: "unknown"; readonly fault: string };

/** From the parameters `audio` and `encoding`. The second applies in stream mode only. */
export function audioModeOf(audio: string | undefined, encoding: string | undefined): AudioMode {
  if (audio === undefined || audio === "") return { type: "sentences" };
  if (audio !== "stream") return { type: "unknown", fault: 'audio: expected "stream", or nothing' };
  const name = encoding === undefined || encoding === "" ? DEFAULT_ENCODING : encoding;
  if (isStreamEncoding(name)) return { type: "stream", encoding: name };
  const known = Object.keys(STREAM_FORMATS).map((each) => `"${each}"`);
  return { type: "unknown", fault: `encoding: expected one of ${known.join(", ")}` };
}

function isStreamEncoding(name: string): name is StreamEncoding {
  return Object.hasOwn(STREAM_FORMATS, name);
}
