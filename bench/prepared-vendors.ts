import type { Phrase } from "./phrases.js";
import { startVendors, type VendorStand } from "./stand.js";
import type { TurnSigns } from "./turn-timing.js";

/** Lifelike enough that stages overlap as they do in reality, and short enough that a turn fits its time. */
const DELAYS = {
  openai: { firstTokenMs: 100, tokenIntervalMs: 10 },
  openaiSpeech: { firstByteMs: 80, bytesPerSecond: 60_000 },
  elevenlabs: { firstByteMs: 80, bytesPerSecond: 60_000 },
};

const AT_ONCE = 8;

/**
 * Vendors whose voice has already made what it will be asked for: making it under load would hold up the others. Then
 * they take their time, as vendors do.
 */
export async function startPreparedVendors(
  phrases: readonly Phrase[],
  voices: readonly TurnSigns["voice"][] = ["openaiSpeech"],
): Promise<VendorStand> {
  const vendors = await startVendors();
  for (const voice of voices) {
    const speak = voice === "elevenlabs" ? speakMuLaw : speakMp3;
    const sentences = phrases.flatMap(({ firstSentence, lastWord }) => [firstSentence, lastWord]);
    for (let at = 0; at < sentences.length; at += AT_ONCE) {
      const some = sentences.slice(at, at + AT_ONCE);
      await Promise.all(some.map((sentence) => speak(vendors, sentence)));
    }
  }
  await send(`${vendors.deskUrl}/faults`, "PUT", DELAYS);
  return vendors;
}

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
