/** What the tests' loudspeaker is called in the page. */
export const TAP_NAME = "hearPlayed";
/** The sample rate of what the tests are given. */
export const TAP_RATE_HZ = 48_000;

const SAMPLES_AT_ONCE = 4_800;
/**
 * For the page: samples as text. As a list of numbers they cost the test a quarter of the time that they sound, which a busy
 * machine does not have.
 */
export const SAMPLES_AS_TEXT =
  "((samples) => btoa(String.fromCharCode(...new Uint8Array(samples.buffer))))";

/** What SAMPLES_AS_TEXT was given. */
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
 * Runs before the page's own script: whatever the page connects to the loudspeaker is also given, as text of samples, to the function
 * TAP_NAME of the test. Contexts get the one rate that the code of tones can be read at.
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
