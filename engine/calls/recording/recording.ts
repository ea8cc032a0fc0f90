import type { RawFormat } from "../../audio/audio-format.js";
import type { Conversion, ConversionListener } from "../../audio/conversion-queue.js";
import { mp3Stream } from "../../audio/mp3-frames.js";
import { decodeSamples } from "../../audio/sample-coding.js";
import type { LegAudio } from "../../conversation/leg-audio.js";
import type { CallAudioTap } from "../../conversation/session.js";
import type { CancelTimer, Clock } from "../../time/clock.js";
import { CallerPlacement, STALL_MAX_MS } from "../opening/caller-placement.js";
import { StreamedSound } from "../streamed-sound.js";
import { AudioTrack } from "./audio-track.js";
import { WAV_CHANNELS } from "./wav-header.js";

const FLUSH_MS = 1_000;
/** So long the caller's audio waits to be placed: what follows shows whether a silence is one. */
const PLACEMENT_MS = 1_000;
/** Written no earlier, so that audio held back by the network for two seconds finds its place free. */
const HOLD_MS = 3_000;
/** While nothing comes from the caller the network may have stalled: what it holds back can come all at once. */
const STALL_HOLD_MS = STALL_MAX_MS + PLACEMENT_MS + FLUSH_MS;
/** After a stall, what waited is written in steps, so that the disk's backlog does not take all of it at once. */
const BLOCK_MAX_MS = 2 * FLUSH_MS;
/** The session sends ten seconds ahead and then at most a sentence, which can have two minutes. */
export const AGENT_AHEAD_MAX_MS = 140_000;
/** What browsers usually keep ahead of the ear. */
const BUFFERED_MS = 200;
const CALLER = 0;
const AGENT = 1;

/** How the two sides of the leg are encoded, and whether the agent's is sent in real time. */
export type RecordedFormat = Pick<LegAudio, "heard" | "speech" | "isPaced">;

/** Where the samples go. */
export interface RecordingSink {
  /** Stereo samples of 16 bits; false, and nothing is taken, when there can be no more. */
  write(block: Uint8Array): boolean;
}

export interface RecordingSurroundings {
  readonly clock: Clock;
  /** A whole MP3 as samples at the recording's rate. */
  readonly decodeMp3: (mp3: Uint8Array) => Promise<Int16Array>;
  /** To 16-bit samples at the recording's rate, low byte first, piece by piece. */
  readonly openConversion: (from: RawFormat<"pcm16">, listener: ConversionListener) => Conversion;
  /** The recording stands still from now on, for this reason. */
  readonly onBroken: (reason: string) => void;
  /** A sentence is missing in it. */
  readonly onSentenceLost: (error: unknown) => void;
  /** All of it has been given to the sink. */
  readonly onWhole: () => void;
}

interface Sentence {
  /** The sample at which the sentence is cut. */
  until: number;
}

/**
 * One call as a stereo signal, the caller left, the agent right. The n-th sample is the n-th of the call's clock, so
 * the two sides cannot drift apart. What has been heard is given to the sink once a second, and then forgotten. While
 * nothing comes from the caller it waits for longer: what the network holds back belongs where it was said.
 */
export class Recording implements CallAudioTap {
  readonly #format: RecordedFormat;
  readonly #sink: RecordingSink;
  readonly #around: RecordingSurroundings;
  readonly #startedAtMs: number;
  readonly #callerTrack = new AudioTrack();
  readonly #agentTrack = new AudioTrack();
  readonly #placement: CallerPlacement;
  readonly #sentences = new Set<Sentence>();
  /** The one that what the agent says next may belong to. */
  #streamed: StreamedSound | undefined;
  readonly #stopFlushing: CancelTimer;
  #agentEndsAt = Number.NEGATIVE_INFINITY;
  #writtenTo = 0;
  /** The sample at which the call has ended. */
  #endsAt: number | undefined;
  #isOver = false;

  constructor(format: RecordedFormat, sink: RecordingSink, around: RecordingSurroundings) {
    this.#format = format;
    this.#sink = sink;
    this.#around = around;
    this.#startedAtMs = around.clock.monotonicMs();
    this.#placement = new CallerPlacement(this.#callerTrack, format.heard.sampleRateHz);
    this.#stopFlushing = around.clock.every(FLUSH_MS, () => this.#flush());
  }

  /** Audio that is held in memory, of both sides. */
  get heldSamples(): number {
    return this.#callerTrack.heldSamples + this.#agentTrack.heldSamples;
  }

  caller(audio: Uint8Array): void {
    if (this.#isStopped) return;
    this.#placement.add(decodeSamples(audio, this.#format.heard.encoding), this.#now());
  }

  agent(audio: Uint8Array): void {
    if (this.#isStopped) return;
    const at = this.#agentPlace();
    const aheadSamples = at - this.#now();
    if (aheadSamples > this.#samples(AGENT_AHEAD_MAX_MS)) {
      return this.#break("more of the agent's audio was sent ahead than a recording holds");
    }
    const { speech, heard } = this.#format;
    if (speech.encoding === "mp3") return this.#addSentence(at, audio);
    const pcm = decodeSamples(audio, speech.encoding);
    if (speech.sampleRateHz !== heard.sampleRateHz) {
      return this.#addStreamed(at, pcm, speech.sampleRateHz);
    }
    this.#agentTrack.place(at, pcm);
    this.#agentEndsAt = at + pcm.length;
  }

  /** A browser that is streamed to hides small gaps with its buffer: there, what comes a little late follows without one. */
  #agentPlace(): number {
    const { speech, isPaced } = this.#format;
    const isBuffered = !isPaced && speech.encoding !== "mp3";
    const lateSamples = this.#now() - this.#agentEndsAt;
    if (isBuffered && lateSamples <= this.#samples(BUFFERED_MS)) return this.#agentEndsAt;
    return Math.max(this.#now(), this.#agentEndsAt);
  }

  /** Once the call has ended, nothing stands behind this moment any more. */
  agentCut(): void {
    this.#cutAgent(this.#now());
  }

  end(): void {
    if (this.#isStopped) return;
    this.#endsAt = this.#now();
    this.#stopFlushing();
    this.#cutAgent(this.#endsAt);
    this.#finishWhenDecoded();
  }

  get #isStopped(): boolean {
    return this.#isOver || this.#endsAt !== undefined;
  }

  #addSentence(at: number, mp3: Uint8Array): void {
    const length = Math.round(this.#samples(mp3Stream(mp3).durationMs));
    this.#agentEndsAt = at + length;
    const sentence = { until: at + length };
    this.#sentences.add(sentence);
    this.#around
      .decodeMp3(mp3)
      .then(
        (pcm) => this.#agentTrack.place(at, pcm.subarray(0, Math.max(0, sentence.until - at))),
        (error: unknown) => this.#around.onSentenceLost(error),
      )
      .finally(() => {
        this.#sentences.delete(sentence);
        this.#finishWhenDecoded();
      });
  }

  /** What does not follow on the piece before it is a sound of its own. */
  #addStreamed(at: number, pcm: Int16Array, rateHz: number): void {
    if (this.#streamed?.endsAt !== at) this.#endStreamed();
    const sound = this.#streamed ?? this.#newStreamed(at, rateHz);
    this.#streamed = sound;
    sound.add(new Uint8Array(pcm.buffer, pcm.byteOffset, pcm.byteLength));
    this.#agentEndsAt = sound.endsAt;
  }

  #newStreamed(at: number, rateHz: number): StreamedSound {
    const from = { encoding: "pcm16", sampleRateHz: rateHz } as const;
    const sound: StreamedSound = new StreamedSound({
      track: this.#agentTrack,
      at,
      ratio: this.#format.heard.sampleRateHz / rateHz,
      open: (listener) => this.#around.openConversion(from, listener),
      onOver: (error) => {
        if (error !== undefined) this.#around.onSentenceLost(error);
        if (this.#streamed === sound) this.#streamed = undefined;
        this.#sentences.delete(sound);
        this.#finishWhenDecoded();
      },
    });
    this.#sentences.add(sound);
    return sound;
  }

  #endStreamed(): void {
    const sound = this.#streamed;
    this.#streamed = undefined;
    sound?.end();
  }

  #cutAgent(position: number): void {
    this.#endStreamed();
    this.#agentEndsAt = Math.min(this.#agentEndsAt, position);
    this.#agentTrack.cutFrom(position);
    for (const sentence of this.#sentences) sentence.until = Math.min(sentence.until, position);
  }

  #flush(): void {
    const now = this.#now();
    this.#placement.settle(now - this.#samples(PLACEMENT_MS));
    const heardTo = Math.min(now - this.#samples(HOLD_MS), this.#placement.endsAt);
    const writable = Math.max(heardTo, now - this.#samples(STALL_HOLD_MS));
    this.#writeTo(Math.min(writable, this.#writtenTo + this.#samples(BLOCK_MAX_MS)));
  }

  #finishWhenDecoded(): void {
    if (this.#isOver || this.#endsAt === undefined || this.#sentences.size > 0) return;
    this.#placement.finish();
    const blockSamples = this.#samples(FLUSH_MS);
    while (!this.#isOver && this.#writtenTo < this.#endsAt) {
      this.#writeTo(Math.min(this.#endsAt, this.#writtenTo + blockSamples));
    }
    if (this.#isOver) return;
    this.#isOver = true;
    this.#around.onWhole();
  }

  #writeTo(position: number): void {
    if (position <= this.#writtenTo) return;
    const block = new Int16Array((position - this.#writtenTo) * WAV_CHANNELS);
    this.#callerTrack.take(this.#writtenTo, block, CALLER);
    this.#agentTrack.take(this.#writtenTo, block, AGENT);
    this.#writtenTo = position;
    if (this.#sink.write(new Uint8Array(block.buffer))) return;
    this.#break("the disk is too slow for it, or it is as long as a file can be");
  }

  #break(reason: string): void {
    this.#isOver = true;
    this.#stopFlushing();
    this.#endStreamed();
    this.#callerTrack.cutFrom(0);
    this.#agentTrack.cutFrom(0);
    this.#around.onBroken(reason);
  }

  /** The time since the call began, in samples. */
  #now(): number {
    return Math.round(this.#samples(this.#around.clock.monotonicMs() - this.#startedAtMs));
  }

  #samples(durationMs: number): number {
    return (durationMs * this.#format.heard.sampleRateHz) / 1_000;
  }
}
