import { SAMPLES_AS_TEXT, TAP_NAME } from "./loudspeaker-tap.js";

/** 100 ms at 48 kHz: a page that reports its audio more often has time for little else. */
const SAMPLES_AT_ONCE = 4_800;

/** The tap's worklet, as a file, because a strict content policy requires it. */
export const TAP_WORKLET = `registerProcessor("tap", class extends AudioWorkletProcessor {
  samples = new Int16Array(${SAMPLES_AT_ONCE}); filled = 0;
  process([[samples]]) {
    for (let n = 0; n < 128; n += 1) {
      this.samples[this.filled++] = 32767 * Math.max(-1, Math.min(1, samples?.[n] ?? 0));
      if (this.filled < this.samples.length) continue;
      this.port.postMessage({ endSec: currentTime, rateHz: sampleRate, samples: this.samples });
      this.filled = 0;
    }
    return true;
  }
})`;

/**
 * Runs before the page's own script: contexts have this sample rate, whatever the machine's device has. Audio that the
 * page sends to the loudspeaker also goes to the test's function TAP_NAME, 100 ms at a time, with its time on the
 * context's clock and the time that the device is playing.
 */
export function tappedLoudspeaker(rateHz: number, workletPath: string): string {
  return `(() => {
  const taps = new WeakMap();
  const connect = AudioNode.prototype.connect;
  AudioNode.prototype.connect = function (target, ...others) {
    const tap = target instanceof AudioDestinationNode ? taps.get(target) : undefined;
    if (tap !== undefined) connect.call(this, tap);
    return connect.call(this, target, ...others);
  };
  const addModule = AudioWorklet.prototype.addModule;
  const Context = AudioContext;
  globalThis.AudioContext = class extends Context {
    constructor(options) {
      super({ ...options, sampleRate: ${rateHz} });
      globalThis.testContext = this;
      const ready = addModule.call(this.audioWorklet, ${JSON.stringify(workletPath)}).then(() => {
        const tap = new AudioWorkletNode(this, "tap", { numberOfOutputs: 0 });
        tap.port.onmessage = ({ data }) => {
          const { contextTime, performanceTime } = this.getOutputTimestamp();
          const nowPlaying = { atSec: contextTime, epochMs: performance.timeOrigin + performanceTime };
          globalThis.${TAP_NAME}({ ...data, samples: ${SAMPLES_AS_TEXT}(data.samples), nowPlaying });
        };
        taps.set(this.destination, tap);
      });
      this.audioWorklet.addModule = (...file) =>
        ready.then(() => addModule.apply(this.audioWorklet, file));
    }
  };
})();`;
}
