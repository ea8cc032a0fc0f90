import type { ChatSettings, SpeechSettings } from "../engine/sandbox/faults.js";
import type { Phrase } from "./phrases.js";
import { startVendors, type VendorStand } from "./stand.js";
import type { VoiceVendor } from "./turn-timing.js";

/** Lifelike enough that stages overlap as they do in reality, and short enough that a turn fits its time. */
const VOICE_DELAYS: SpeechSettings = { firstByteMs: 80 };
const MODEL_DELAYS: ChatSettings = { firstTokenMs: 100, tokenIntervalMs: 10 };

const AT_ONCE = 8;

/** A telephone's voice, or the MP3 that whole sentences for browsers are. */
export type PreparedVoice = VoiceVendor | "webMp3";

/** PCM is made in no time, and would fill the sandbox's store. */
const SPEAK: Readonly<Record<PreparedVoice, typeof speakMp3 | undefined>> = {
  elevenlabs: speakMuLaw,
  webMp3: speakMp3,
  edge: speakMp3,
  openaiSpeech: undefined,
};

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
  for (const prepared of voices) {
    const speak = SPEAK[prepared];
    if (speak === undefined) continue;
    const sentences = phrases.flatMap(({ firstSentence, lastWord }) => [firstSentence, lastWord]);
    for (let at = 0; at < sentences.length; at += AT_ONCE) {
      const some = sentences.slice(at, at + AT_ONCE);
      await Promise.all(some.map((sentence) => speak(vendors, sentence)));
    }
  }
  await setVoices(vendors);
  return vendors;
}

/** From now on voices deliver so, at the sandbox's usual rate unless it is said; models take their usual time. */
export function setVoices({ deskUrl }: VendorStand, voice: SpeechSettings = {}): Promise<void> {
  const spoken = { ...VOICE_DELAYS, ...voice };
  return send(`${deskUrl}/faults`, "PUT", delays(spoken, MODEL_DELAYS));
}

function delays(voice: SpeechSettings, openai: ChatSettings): object {
  return { openai, openaiSpeech: voice, elevenlabs: voice, edge: voice };
}

/** Edge has the same encoder as OpenAI behind it, and so the same store of what was made. */
function speakMp3({ urls }: VendorStand, input: string): Promise<void> {
  const body = { model: "gpt-4o-mini-tts", voice: "alloy", input, response_format: "mp3" };
  return send(`${urls.openai}/audio/speech`, "POST", body);
}

function speakMuLaw({ urls }: VendorStand, text: string): Promise<void> {
  const url = `${urls.elevenlabs}/v1/text-to-speech/bench/stream?output_format=ulaw_8000`;
  return send(url, "POST", { text, model_id: "eleven_flash_v2_5" });
}

async function send(url: string, method: string, body: object): Promise<void> {
  const headers = {
    authorization: "Bearer bench",
    "xi-api-key": "bench",
    "content-type": "application/json",
  };
  const answer = await fetch(url, { method, headers, body: JSON.stringify(body) });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`the simulated vendors answer ${answer.status}`);
}
