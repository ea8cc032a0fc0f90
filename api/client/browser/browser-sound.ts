import { CallError, type CallErrorCode } from "../call-error.js";
import type { MicrophoneChange } from "../call-events.js";
import { type CancelTimer, type ClientClock, defaultClock } from "../client-clock.js";
import type { Sound, SoundListener } from "../sound.js";
import { Microphone, PAGE_NOT_SECURE } from "./microphone.js";
import {
  LOUDSPEAKER_PROCESSOR,
  type LoudspeakerCommand,
  type LoudspeakerReport,
  MICROPHONE_PROCESSOR,
} from "./worklet-message.js";

export interface BrowserSoundOptions {
  /** The address of the AudioWorklet's file. */
  readonly workletUrl: string;
  /** The initial `deviceId`; default: the system's choice. */
  readonly microphoneId?: string | undefined;
  /** Default true: without a microphone the sound is not opened. */
  readonly isMicrophoneNeeded?: boolean | undefined;
  /** Default true; false waits for `useMicrophone`. */
  readonly opensMicrophone?: boolean | undefined;
  readonly clock?: ClientClock | undefined;
}

/** As often as the worklet reports; the worklet does not run while the audio is suspended. */
const STILL_PERIOD_MS = 125;

/** Chromium and Safari support this; Firefox does not yet. */
interface SelectableOutput {
  setSinkId?(deviceId: string): Promise<void>;
}

const MUTED =
  "The system has muted the microphone. Unmute it with its key or in the system settings; the call then continues.";
const FAULT_OF_STATE: Readonly<Record<MicrophoneChange["state"], CallErrorCode | undefined>> = {
  open: undefined,
  muted: "microphoneMuted",
  lost: "microphoneLost",
};

/** The microphone and the loudspeaker of a page. */
export class BrowserSound implements Sound {
  readonly #options: BrowserSoundOptions;
  readonly #clock: ClientClock;
  #context: AudioContext | undefined;
  #gain: GainNode | undefined;
  #loudspeaker: AudioWorkletNode | undefined;
  #microphone: Microphone | undefined;
  #listener: SoundListener | undefined;
  /** Why there is no microphone; undefined if there is one. */
  #microphoneFault: CallErrorCode | undefined;
  #isSuspended = false;
  /** The current turn, and the progress that was reported for it. */
  #playing: { readonly turn: number; readonly ms: number } | undefined;
  #cancelStill: CancelTimer | undefined;
  #volume = 1;
  #isMuted = false;
  /** Reports from before the last stop are dropped. */
  #stops = 0;

  constructor(options: BrowserSoundOptions) {
    this.#options = options;
    this.#clock = options.clock ?? defaultClock;
  }

  async open(listener: SoundListener): Promise<void> {
    this.#listener = listener;
    // Before any await: an AudioContext that is created in a click handler may play.
    const context = new AudioContext({ latencyHint: "interactive" });
    this.#context = context;
    context.onstatechange = () => this.#watchContext();
    void context.resume().catch(() => {});
    await this.#loadWorklet(context);
    if (context !== this.#context) return;
    const ears = new AudioWorkletNode(context, MICROPHONE_PROCESSOR, {
      numberOfInputs: 1,
      numberOfOutputs: 1,
      channelCount: 1,
      channelCountMode: "explicit",
    });
    ears.port.onmessage = ({ data }: MessageEvent<Int16Array<ArrayBuffer>>) => listener.frame(data);
    this.#openLoudspeaker(context);
    // The worklet's output is silent: not every browser runs a worklet that has no destination.
    ears.connect(context.destination);
    this.#microphone = new Microphone(ears, (change) => this.#microphoneChanged(change));
    this.#microphone.setMuted(this.#isMuted);
    if (this.#options.opensMicrophone !== false) {
      await this.#openMicrophone(this.#microphone, listener);
    }
    // The caller hung up while the browser asked for microphone permission: this call must not ask again.
    if (context !== this.#context) return;
    globalThis.navigator.mediaDevices?.addEventListener("devicechange", this.#devicesChanged);
    this.#watchContext();
  }

  startTurn(turn: number, rateHz: number): void {
    this.#playing = { turn, ms: 0 };
    this.#command({ type: "begin", turn, rateHz });
  }

  play(samples: Int16Array<ArrayBuffer>): void {
    this.#command({ type: "play", samples }, [samples.buffer]);
  }

  finish(): void {
    this.#playing = undefined;
    this.#command({ type: "finish" });
  }

  stop(): void {
    this.#stops += 1;
    this.#playing = undefined;
    this.#command({ type: "stop" });
  }

  setMuted(isMuted: boolean): void {
    this.#isMuted = isMuted;
    this.#microphone?.setMuted(isMuted);
  }

  setVolume(volume: number): void {
    this.#volume = volume;
    if (this.#gain !== undefined) this.#gain.gain.value = volume;
  }

  /** Changes the microphone, also during a call; default: the system's choice. Rejects with a CallError. */
  async useMicrophone(deviceId?: string): Promise<void> {
    await this.#microphone?.open(deviceId);
  }

  /** Changes the loudspeaker. Rejects with a CallError if the browser cannot select one. */
  async useLoudspeaker(deviceId: string): Promise<void> {
    const context: (AudioContext & SelectableOutput) | undefined = this.#context;
    if (context === undefined) return;
    if (context.setSinkId === undefined) {
      throw new CallError("soundFailed", "this browser cannot select a loudspeaker");
    }
    await context.setSinkId(deviceId);
  }

  close(): void {
    const context = this.#context;
    this.#context = undefined;
    this.#listener = undefined;
    this.#microphone?.close();
    globalThis.navigator.mediaDevices?.removeEventListener("devicechange", this.#devicesChanged);
    this.#awaitGesture(false);
    this.#cancelStill?.();
    if (context !== undefined && context.state !== "closed") void context.close().catch(() => {});
  }

  async #openMicrophone(microphone: Microphone, listener: SoundListener): Promise<void> {
    try {
      await microphone.open(this.#options.microphoneId);
    } catch (error) {
      const isNeeded = this.#options.isMicrophoneNeeded ?? true;
      if (isNeeded || !(error instanceof CallError)) throw error;
      if (this.#listener === undefined) return;
      this.#microphoneFault = error.code;
      listener.fault(error);
    }
  }

  async #loadWorklet(context: AudioContext): Promise<void> {
    // On such pages browsers have no worklets either, and their error would be hard to understand.
    if (!globalThis.isSecureContext) throw new CallError("pageNotSecure", PAGE_NOT_SECURE);
    try {
      await context.audioWorklet.addModule(this.#options.workletUrl);
    } catch (error) {
      const message = "the audio worklet could not be loaded";
      throw new CallError("soundFailed", message, { cause: error });
    }
  }

  #openLoudspeaker(context: AudioContext): void {
    const loudspeaker = new AudioWorkletNode(context, LOUDSPEAKER_PROCESSOR, {
      numberOfInputs: 0,
      numberOfOutputs: 1,
      outputChannelCount: [1],
    });
    loudspeaker.port.onmessage = ({ data }: MessageEvent<LoudspeakerReport>) =>
      this.#onReport(data);
    this.#gain = new GainNode(context, { gain: this.#volume });
    loudspeaker.connect(this.#gain);
    this.#gain.connect(context.destination);
    this.#loudspeaker = loudspeaker;
  }

  #command(command: LoudspeakerCommand, transfer: ArrayBuffer[] = []): void {
    this.#loudspeaker?.port.postMessage(command, transfer);
  }

  /** Audio from the worklet is heard after the system's own buffers. */
  #onReport(report: LoudspeakerReport): void {
    if (report.type === "loudness") return this.#listener?.agentLoudness(report.rms);
    const stops = this.#stops;
    const { outputLatency, baseLatency } = this.#context ?? { outputLatency: 0, baseLatency: 0 };
    this.#clock.after((outputLatency || baseLatency || 0) * 1_000, () => {
      if (stops !== this.#stops) return;
      if (report.type === "sounding") this.#listener?.sounding(report.turn);
      else this.#played(report.turn, report.ms);
    });
  }

  #played(turn: number, ms: number): void {
    if (this.#playing?.turn === turn) this.#playing = { turn, ms };
    this.#listener?.played(turn, ms);
  }

  /** The server has to wait for audio that does not play, and stop it when the caller interrupts. */
  #reportStill(): void {
    if (this.#playing !== undefined) this.#listener?.played(this.#playing.turn, this.#playing.ms);
    this.#cancelStill = this.#clock.after(STILL_PERIOD_MS, () => this.#reportStill());
  }

  #microphoneChanged(change: MicrophoneChange): void {
    this.#listener?.microphone(change);
    const fault = this.#microphoneFault;
    this.#microphoneFault = FAULT_OF_STATE[change.state];
    if (fault !== undefined && fault !== this.#microphoneFault) this.#listener?.mended(fault);
    if (change.state === "open") return;
    if (change.state === "muted") {
      // A muted microphone comes back by itself; no other device is tried.
      this.#listener?.fault(new CallError("microphoneMuted", MUTED));
      return;
    }
    const message = "The microphone was disconnected. Plug it in again, or choose another one.";
    this.#listener?.fault(new CallError("microphoneLost", message));
    this.#devicesChanged();
  }

  /** If the microphone is missing, looks for one whenever a device is added or removed. */
  readonly #devicesChanged = () => {
    if (this.#microphoneFault === undefined || this.#microphoneFault === "microphoneMuted") return;
    void this.#microphone?.open().catch(() => {});
  };

  #watchContext(): void {
    const state = this.#context?.state;
    if (state === undefined || state === "closed") return;
    const wasSuspended = this.#isSuspended;
    this.#isSuspended = state !== "running";
    this.#awaitGesture(this.#isSuspended);
    this.#cancelStill?.();
    if (this.#isSuspended) this.#reportStill();
    if (wasSuspended && !this.#isSuspended) this.#listener?.mended("soundSuspended");
    if (wasSuspended || !this.#isSuspended) return;
    const message = "The browser blocks audio until you click or press a key.";
    this.#listener?.fault(new CallError("soundSuspended", message));
  }

  #awaitGesture(isAwaited: boolean): void {
    for (const name of ["pointerdown", "keydown"]) {
      if (isAwaited) document.addEventListener(name, this.#resume);
      else document.removeEventListener(name, this.#resume);
    }
  }

  readonly #resume = () => {
    void this.#context?.resume().catch(() => {});
  };
}
