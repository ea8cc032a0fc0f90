import { encodeSpeech } from "../../engine/sandbox/tone-code.js";

const RATE_HZ = 48_000;

/** Runs before every other script: the microphone is one into which the test speaks when it wants to. */
export const SPOKEN_MICROPHONE = `{
  const Room = AudioContext;
  navigator.mediaDevices.getUserMedia = async () => {
    const room = new Room({ sampleRate: ${RATE_HZ} });
    const microphone = new MediaStreamAudioDestinationNode(room);
    globalThis.speak = (samples) => {
      const buffer = new AudioBuffer({ length: samples.length, sampleRate: ${RATE_HZ} });
      buffer.copyToChannel(Float32Array.from(samples, (sample) => sample / 32768), 0);
      const voice = new AudioBufferSourceNode(room, { buffer });
      voice.connect(microphone);
      voice.start();
    };
    return microphone.stream;
  };
}`;

/** For the page: says the words into that microphone, in the sandbox's code of tones. */
export function speaking(text: string): string {
  return `speak([${encodeSpeech(text, RATE_HZ).join(",")}])`;
}
