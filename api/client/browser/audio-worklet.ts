import { FrameCutter } from "../frame-cutter.js";
import { PlaybackQueue } from "../playback-queue.js";
import {
  LOUDSPEAKER_PROCESSOR,
  type LoudspeakerCommand,
  type LoudspeakerReport,
  MICROPHONE_PROCESSOR,
} from "./worklet-message.js";

/** The scope of an AudioWorklet, which the DOM types omit. */
declare const sampleRate: number;
declare abstract class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void;

/** The number of samples in a browser's block for an input without a source. */
const BLOCK_SAMPLES = 128;
/** Reports are sent eight times per second. */
const REPORT_PERIOD_SEC = 0.125;

/** Sends a frame every 20 ms, also in silence: a call without frames ends. */
class MicrophoneProcessor extends AudioWorkletProcessor {
  readonly #silence = new Float32Array(BLOCK_SAMPLES);
  readonly #cutter = new FrameCutter(sampleRate, (frame) =>
    this.port.postMessage(frame, [frame.buffer]),
  );

  process([input]: readonly (readonly Float32Array[])[]): boolean {
    this.#cutter.push(input?.[0] ?? this.#silence);
    return true;
  }
}

class LoudspeakerProcessor extends AudioWorkletProcessor {
  readonly #queue = new PlaybackQueue(sampleRate, (turn) =>
    this.#postState({ type: "sounding", turn }),
  );
  #samples = 0;
  #squares = 0;

  constructor() {
    super();
    this.port.onmessage = ({ data }: MessageEvent<LoudspeakerCommand>) => this.#obey(data);
  }

  process(_inputs: unknown, [output]: readonly (readonly Float32Array[])[]): boolean {
    const [first, ...others] = output ?? [];
    if (first === undefined) return true;
    this.#queue.fill(first);
    for (const other of others) other.set(first);
    for (const sample of first) this.#squares += sample * sample;
    this.#samples += first.length;
    if (this.#samples >= REPORT_PERIOD_SEC * sampleRate) this.#report();
    return true;
  }

  #report(): void {
    this.#postState({ type: "loudness", rms: Math.sqrt(this.#squares / this.#samples) });
    this.#samples = 0;
    this.#squares = 0;
    const { progress } = this.#queue;
    if (progress !== undefined) this.#postState({ type: "played", ...progress });
  }

  #obey(command: LoudspeakerCommand): void {
    switch (command.type) {
      case "begin":
        return this.#queue.startTurn(command.turn, command.rateHz);
      case "play":
        return this.#queue.play(command.samples);
      case "finish":
        return this.#queue.finish();
      case "stop":
        return this.#queue.stop();
    }
  }

  #postState(report: LoudspeakerReport): void {
    this.port.postMessage(report);
  }
}

registerProcessor(MICROPHONE_PROCESSOR, MicrophoneProcessor);
registerProcessor(LOUDSPEAKER_PROCESSOR, LoudspeakerProcessor);
