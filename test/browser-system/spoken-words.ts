import type { ViewerPage } from "../../bench/livestream/viewer-browser.js";
import { encodeSpeech } from "../../engine/sandbox/telephone/tone-code.js";

const RATE_HZ = 48_000;

/**
 * Runs before every other script: replaces the microphone by one into which the test speaks, which it can unplug and
 * plug in again, and which it can mute as a system does: the track reports it, and is silent until it is unmuted.
 */
export const SPOKEN_MICROPHONE = `{
  const Room = AudioContext;
  const Gate = GainNode;
  let isPlugged = true;
  let isMutedBySystem = false;
  const tracks = [];
  const gates = [];
  globalThis.unplug = () => {
    isPlugged = false;
    for (const track of tracks.splice(0)) {
      track.stop();
      track.dispatchEvent(new Event("ended"));
    }
  };
  globalThis.plugIn = () => {
    isPlugged = true;
    navigator.mediaDevices.dispatchEvent(new Event("devicechange"));
  };
  globalThis.muteBySystem = (isMuted) => {
    isMutedBySystem = isMuted;
    for (const gate of gates) gate.gain.value = isMuted ? 0 : 1;
    for (const track of tracks) track.dispatchEvent(new Event(isMuted ? "mute" : "unmute"));
  };
  navigator.mediaDevices.getUserMedia = async () => {
    if (!isPlugged) throw new DOMException("there is none", "NotFoundError");
    const room = new Room({ sampleRate: ${RATE_HZ} });
    const microphone = new MediaStreamAudioDestinationNode(room);
    const gate = new Gate(room, { gain: isMutedBySystem ? 0 : 1 });
    gate.connect(microphone);
    gates.push(gate);
    globalThis.speak = (samples) => {
      const buffer = new AudioBuffer({ length: samples.length, sampleRate: ${RATE_HZ} });
      buffer.copyToChannel(Float32Array.from(samples, (sample) => sample / 32768), 0);
      const voice = new AudioBufferSourceNode(room, { buffer });
      voice.connect(gate);
      // Starts with a moment of silence: a sound device that wakes up may cut the first audio.
      voice.start(room.currentTime + 0.2);
    };
    for (const track of microphone.stream.getTracks()) {
      Object.defineProperty(track, "muted", { get: () => isMutedBySystem });
      tracks.push(track);
    }
    return microphone.stream;
  };
}`;

/** Runs in the page: says the words into that microphone, in the sandbox's tone code. */
export function speaking(text: string): string {
  return `speak([${encodeSpeech(text, RATE_HZ).join(",")}])`;
}

const SAYS_AGAIN_MAX = 3;
const REPLY_MAX_MS = 15_000;

/**
 * A busy machine may drop some of the microphone's audio: like a person, a caller who is not understood says it again.
 */
export async function sayAgainUntil(
  page: ViewerPage["page"],
  text: string,
  answered: () => Promise<void>,
): Promise<void> {
  for (let tries = 1; tries < SAYS_AGAIN_MAX; tries += 1) {
    await page.evaluate(speaking(text));
    const isAnswered = await answered().then(
      () => true,
      () => false,
    );
    if (isAnswered) return;
  }
  await page.evaluate(speaking(text));
  await answered();
}

/** Like `sayAgainUntil`, but until the page shows the reply. */
export function sayUntil(
  page: ViewerPage["page"],
  text: string,
  answer: ReturnType<ViewerPage["page"]["locator"]>,
): Promise<void> {
  return sayAgainUntil(page, text, () => answer.waitFor({ timeout: REPLY_MAX_MS }));
}
