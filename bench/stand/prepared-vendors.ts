import type { ChatSettings, SpeechSettings } from "../../engine/sandbox/faults.js";
import { MP3_KEPT_BYTES_MAX } from "../../engine/sandbox/sound/simulated-voice.js";
import type { Phrase } from "../load/phrases.js";
import type { VoiceVendor } from "../load/turn-timing.js";
import { startVendors, type VendorStand } from "./stand.js";

/** Lifelike enough that stages overlap as they do in reality, and short enough that a turn fits its time. */
const VOICE_DELAYS: SpeechSettings = { firstByteMs: 80 };
const MODEL_DELAYS: ChatSettings = { firstTokenMs: 100, tokenIntervalMs: 10 };

const AT_ONCE = 8;
/** The texts take room beside their sound. */
const MP3_FILLED_MAX = 0.95;

/** A telephone's voice, or the MP3 that whole sentences for browsers are. */
export type PreparedVoice = VoiceVendor | "webMp3";

/** Speak MP3; other sound is made in no time, and not kept. */
const MP3_VOICES: ReadonlySet<PreparedVoice> = new Set(["webMp3", "edge"]);

/**
 * Vendors whose voice has already made what it will be asked for, where making it is work: that would hold up the others.
 * Then they take their time, as vendors do.
 */
export async function startPreparedVendors(
  phrases: readonly Phrase[],
  voices: readonly PreparedVoice[] = ["webMp3"],
): Promise<VendorStand> {
  const vendors = await startVendors();
  await send(`${vendors.deskUrl}/faults`, "PUT", delays({ realTimeFactor: 0 }, {}));
  if (voices.some((voice) => MP3_VOICES.has(voice))) await makeMp3(vendors, phrases);
  await setVoices(vendors);
  return vendors;
}

/** From now on voices deliver so, at the sandbox's usual rate unless it is said; models take their usual time. */
export async function setVoices(
  { deskUrl }: VendorStand,
  voice: SpeechSettings = {},
): Promise<void> {
  const spoken = { ...VOICE_DELAYS, ...voice };
  await send(`${deskUrl}/faults`, "PUT", delays(spoken, MODEL_DELAYS));
}

function delays(voice: SpeechSettings, openai: ChatSettings): object {
  return { openai, openaiSpeech: voice, elevenlabs: voice, edge: voice };
}

/** Throws where the voice would not keep all of it: then the load would measure how it is made anew. */
async function makeMp3(vendors: VendorStand, phrases: readonly Phrase[]): Promise<void> {
  const sentences = phrases.flatMap(({ firstSentence, lastWord }) => [firstSentence, lastWord]);
  let madeBytes = 0;
  for (let at = 0; at < sentences.length; at += AT_ONCE) {
    const some = sentences.slice(at, at + AT_ONCE);
    const made = await Promise.all(some.map((sentence) => speakMp3(vendors, sentence)));
    madeBytes += made.reduce((sum, sizeBytes) => sum + sizeBytes, 0);
  }
  if (madeBytes > MP3_FILLED_MAX * MP3_KEPT_BYTES_MAX) {
    throw new RangeError(`the simulated voice does not keep ${madeBytes} bytes of MP3`);
  }
}

/** Edge has the same encoder as OpenAI behind it, and so the same store of what was made. Resolves with its bytes. */
function speakMp3({ urls }: VendorStand, input: string): Promise<number> {
  const body = { model: "gpt-4o-mini-tts", voice: "alloy", input, response_format: "mp3" };
  return send(`${urls.openai}/audio/speech`, "POST", body);
}

async function send(url: string, method: string, body: object): Promise<number> {
  const headers = { authorization: "Bearer bench", "content-type": "application/json" };
  const answer = await fetch(url, { method, headers, body: JSON.stringify(body) });
  const { byteLength } = await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`the simulated vendors answer ${answer.status}`);
  return byteLength;
}
