/** The name of the test's function in the page. */
export const TAP_NAME = "hearPlayed";
/** The sample rate of the audio that tests receive. */
export const TAP_RATE_HZ = 48_000;

const SAMPLES_AT_ONCE = 4_800;
/**
 * Runs in the page: converts samples to text. As a list of numbers they would take the test a quarter of their
 * duration, which a busy machine does not have.
 */
export const SAMPLES_AS_TEXT =
  "((samples) => btoa(String.fromCharCode(...new Uint8Array(samples.buffer))))";

/** Reverses SAMPLES_AS_TEXT. */
export function samplesOf(text: string): Int16Array {
  return new Int16Array(Uint8Array.from(Buffer.from(text, "base64")).buffer);
}

const RECORDER = `registerProcessor("tap", class extends AudioWorkletProcessor {
  samples = new Int16Array(${SAMPLES_AT_ONCE}); filled = 0;
  process([[samples]]) {
    for (let n = 0; n < 128; n += 1) {
      this.samples[this.filled++] = 32767 * Math.max(-1, Math.min(1, samples?.[n] ?? 0));
      if (this.filled < this.samples.length) continue;
      this.port.postMessage(this.samples);
      this.filled = 0;
    }
    return true;
  }
})`;

/**
 * Runs before the page's own script: audio that the page sends to the loudspeaker also goes, as text of samples, to the
 * test's function TAP_NAME. Audio contexts get the only sample rate at which the tone code can be decoded.
 */
export const LOUDSPEAKER_TAP = `(() => {
  const taps = new WeakMap();
  const connect = AudioNode.prototype.connect;
  AudioNode.prototype.connect = function (target, ...others) {
    if (target instanceof AudioDestinationNode) connect.call(this, taps.get(target));
    return connect.call(this, target, ...others);
  };
  globalThis.AudioContext = class extends AudioContext {
    constructor() {
      super({ sampleRate: ${TAP_RATE_HZ} });
      const module = "data:text/javascript," + encodeURIComponent(${JSON.stringify(RECORDER)});
      this.audioWorklet.addModule(module).then(() => {
        const tap = new AudioWorkletNode(this, "tap", { numberOfOutputs: 0 });
        tap.port.onmessage = ({ data }) => globalThis.${TAP_NAME}(${SAMPLES_AS_TEXT}(data));
        taps.set(this.destination, tap);
      });
    }
  };
})()`;
