import type { RawFormat } from "../../audio/audio-format.js";
import type { Conversion, ConversionListener } from "../../audio/conversion-queue.js";
import { mp3Stream } from "../../audio/mp3-frames.js";
import { decodePcm, decodeSamples } from "../../audio/sample-coding.js";
import type { CallAudioTap } from "../../conversation/actor.js";
import type { LegAudio } from "../../conversation/leg-audio.js";
import type { CancelTimer, Clock } from "../../time/clock.js";
import { WAV_CHANNELS } from "./recording-file.js";

interface Piece {
  /** In samples from the beginning of the recording. */
  readonly at: number;
  readonly pcm: Int16Array;
}

/** One side of a call, as pieces of audio at their positions, with silence between; written audio is freed. */
export class AudioTrack {
  #pieces: Piece[] = [];

  get bufferedSamples(): number {
    return this.#pieces.reduce((sum, { pcm }) => sum + pcm.length, 0);
  }

  /** Pieces may arrive in any order; where two overlap, the later one wins. */
  place(at: number, pcm: Int16Array): void {
    if (pcm.length > 0) this.#pieces.push({ at, pcm });
  }

  /** Removes the audio from `position` on. */
  cutFrom(position: number): void {
    this.#pieces = this.#pieces.flatMap(({ at, pcm }) => {
      const length = Math.min(pcm.length, position - at);
      return length > 0 ? [{ at, pcm: pcm.subarray(0, length) }] : [];
    });
  }

  /** Writes the audio from `from` on into one channel of a block, and frees everything that ends with the block. */
  take(from: number, block: Int16Array, channel: number): void {
    const to = from + block.length / WAV_CHANNELS;
    for (const { at, pcm } of this.#pieces) {
      const first = Math.max(at, from);
      const last = Math.min(at + pcm.length, to);
      let target = (first - from) * WAV_CHANNELS + channel;
      for (let index = first - at; index < last - at; index += 1) {
        block[target] = pcm[index] ?? 0;
        target += WAV_CHANNELS;
      }
    }
    this.#pieces = this.#pieces.filter(({ at, pcm }) => at + pcm.length > to);
  }
}

/** A longer pause in the leg's audio is silence; a shorter one is jitter. */
export const GAP_MS = 60;
/** How far the caller's clock may drift from the server's before a sample is dropped or repeated. */
const SLIP_TOLERANCE_MS = 8;
/** One sample in this many: a pitch change of about a tenth of a semitone, which is inaudible. */
const SLIP_EVERY_SAMPLES = 160;
/** A leg that sends more than this ahead of real time is flooding; the excess is dropped. */
const CALLER_AHEAD_MAX_MS = 5_000;
/**
 * The maximum length of a network stall whose audio is kept when it arrives in one burst; of a longer stall, the
 * end is kept.
 */
export const STALL_MAX_MS = 10_000;
/** The audio that may arrive while the end of a stall waits to be placed. */
const WAITING_MAX_MS = STALL_MAX_MS + 2_000;
/** The number of pieces of 3 ms; legs send pieces of about 20 ms. */
const WAITING_CHUNKS_MAX = WAITING_MAX_MS / 3;

interface Chunk {
  readonly pcm: Int16Array;
  /** The position of the call when the last of it arrived. */
  readonly arrivedAt: number;
}

/**
 * Finds the positions of the caller's audio, whose chunks arrive more or less late. Audio is contiguous unless no
 * later chunk makes up for a delay, so a chunk waits a while for those after it.
 */
export class CallerPlacement {
  readonly #track: AudioTrack;
  readonly #gapSamples: number;
  readonly #toleranceSamples: number;
  readonly #aheadSamplesMax: number;
  readonly #waitingSamplesMax: number;
  #waiting: Chunk[] = [];
  #waitingSamples = 0;
  /** Where the last placed chunk ends. */
  #endsAt: number | undefined;

  constructor(track: AudioTrack, rateHz: number) {
    this.#track = track;
    this.#gapSamples = (GAP_MS * rateHz) / 1_000;
    this.#toleranceSamples = (SLIP_TOLERANCE_MS * rateHz) / 1_000;
    this.#aheadSamplesMax = (CALLER_AHEAD_MAX_MS * rateHz) / 1_000;
    this.#waitingSamplesMax = (WAITING_MAX_MS * rateHz) / 1_000;
  }

  /** Everything is placed up to here; 0 before anything is. */
  get endsAt(): number {
    return this.#endsAt ?? 0;
  }

  add(pcm: Int16Array, arrivedAt: number): void {
    this.#waiting.push({ pcm, arrivedAt });
    this.#waitingSamples += pcm.length;
    while (
      this.#waitingSamples > this.#waitingSamplesMax ||
      this.#waiting.length > WAITING_CHUNKS_MAX
    ) {
      this.#waitingSamples -= this.#waiting.shift()?.pcm.length ?? 0;
    }
  }

  /** Places the remaining audio: with nothing after it, only a gap can be distinguished from a delay. */
  finish(): void {
    this.settle(Number.POSITIVE_INFINITY, this.#gapSamples);
  }

  /** Places every chunk that arrived until then; the later ones show how late it was. */
  settle(arrivedUntil: number, toleranceSamples = this.#toleranceSamples): void {
    const starts = this.#latestStarts();
    let count = 0;
    for (const [index, chunk] of this.#waiting.entries()) {
      if (chunk.arrivedAt > arrivedUntil) break;
      this.#place(chunk, starts[index] ?? chunk.arrivedAt, toleranceSamples);
      this.#waitingSamples -= chunk.pcm.length;
      count += 1;
    }
    this.#waiting.splice(0, count);
  }

  /** The latest start of each chunk, so that it and all later ones, without gaps, end before they arrived. */
  #latestStarts(): readonly number[] {
    const starts: number[] = Array.from({ length: this.#waiting.length });
    let latestEnd = Number.POSITIVE_INFINITY;
    for (let index = this.#waiting.length - 1; index >= 0; index -= 1) {
      const chunk = this.#waiting[index];
      if (chunk === undefined) continue;
      latestEnd = Math.min(latestEnd, chunk.arrivedAt) - chunk.pcm.length;
      starts[index] = latestEnd;
    }
    return starts;
  }

  #place({ pcm, arrivedAt }: Chunk, latestStart: number, toleranceSamples: number): void {
    const endsAt = this.#endsAt ?? latestStart;
    const lag = latestStart - endsAt;
    if (lag > this.#gapSamples) return this.#put(latestStart, pcm);
    if (endsAt > arrivedAt + this.#aheadSamplesMax) return;
    this.#put(endsAt, Math.abs(lag) > toleranceSamples ? slipped(pcm, lag) : pcm);
  }

  #put(at: number, pcm: Int16Array): void {
    this.#track.place(at, pcm);
    this.#endsAt = at + pcm.length;
  }
}

/** A few samples longer or shorter, to make up for the lag. */
function slipped(pcm: Int16Array, lag: number): Int16Array {
  const slip = Math.min(Math.abs(lag), Math.ceil(pcm.length / SLIP_EVERY_SAMPLES));
  const length = Math.max(1, pcm.length + Math.sign(lag) * Math.floor(slip));
  return Int16Array.from(
    { length },
    (_, index) => pcm[Math.floor((index * pcm.length) / length)] ?? 0,
  );
}

export interface StreamedSoundOptions {
  readonly track: AudioTrack;
  /** Where it begins, in samples of the recording. */
  readonly at: number;
  /** Samples of the recording per sample of the sound. */
  readonly ratio: number;
  readonly open: (listener: ConversionListener) => Conversion;
  /** Nothing of it follows; with an error, the rest of it is missing. */
  readonly onOver: (error?: Error) => void;
}

/** Speech that arrives in pieces, each following the one before it, on its way to the recording's own rate. */
export class StreamedSound {
  /** The sample at which it is cut. */
  until = Number.POSITIVE_INFINITY;
  readonly #options: StreamedSoundOptions;
  readonly #conversion: Conversion;
  #samples = 0;
  #placedSamples = 0;

  constructor(options: StreamedSoundOptions) {
    this.#options = options;
    this.#conversion = options.open({
      onAudio: (audio) => this.#place(decodePcm(audio, true)),
      onEnd: () => options.onOver(),
      onFailed: (error) => options.onOver(error),
    });
  }

  /** The position of the next piece. */
  get endsAt(): number {
    return this.#options.at + Math.round(this.#samples * this.#options.ratio);
  }

  /** Whole 16-bit samples, low byte first; the bytes must not change. */
  add(pcm: Uint8Array): void {
    this.#samples += pcm.byteLength / 2;
    this.#conversion.write(pcm);
  }

  end(): void {
    this.#conversion.end();
  }

  #place(pcm: Int16Array): void {
    const { at, track } = this.#options;
    const position = at + this.#placedSamples;
    this.#placedSamples += pcm.length;
    track.place(position, pcm.subarray(0, Math.max(0, this.until - position)));
  }
}

/** How long sound waits before it is written. */
export interface RecordingTiming {
  readonly flushMs: number;
  /** How long the caller's audio waits to be placed: later audio shows whether a silence is one. */
  readonly placementMs: number;
  /** Audio is written this late, so that audio that the network delayed finds its place free. */
  readonly holdMs: number;
  /** While no audio arrives from the caller the network may have stalled: its audio may arrive in one burst. */
  readonly stallHoldMs: number;
  /** After a stall, the waiting audio is written in steps, so that it does not fill the sink's backlog. */
  readonly blockMaxMs: number;
}

/** For a file: audio that was delayed by two seconds still finds its place. */
const FILE_TIMING: RecordingTiming = {
  flushMs: 1_000,
  placementMs: 1_000,
  holdMs: 3_000,
  stallHoldMs: STALL_MAX_MS + 2_000,
  blockMaxMs: 2_000,
};
/** The conversation sends ten seconds ahead and then at most a sentence, which can have two minutes. */
export const AGENT_AHEAD_MAX_MS = 140_000;
/** What browsers usually buffer before playback. */
const BUFFERED_MS = 200;
const CALLER = 0;
const AGENT = 1;

/** The encodings of both sides of the leg, and whether the agent's audio is sent in real time. */
export type RecordedFormat = Pick<LegAudio, "input" | "speech" | "isPaced">;

/** The receiver of the samples. */
export interface RecordingSink {
  /** Stereo 16-bit samples; false, and the block is dropped, if no more is accepted. */
  write(block: Uint8Array): boolean;
}

export interface RecordingDeps {
  readonly clock: Clock;
  /** Decodes a whole MP3 to samples at the recording's rate. */
  readonly decodeMp3: (mp3: Uint8Array) => Promise<Int16Array>;
  /** Converts to 16-bit samples at the recording's rate, low byte first, piece by piece. */
  readonly openConversion: (from: RawFormat<"pcm16">, listener: ConversionListener) => Conversion;
  /** The recording has stopped for this reason. */
  readonly onBroken: (reason: string) => void;
  /** A sentence is missing in it. */
  readonly onSentenceDropped: (error: unknown) => void;
  /** The sink has received all of it. */
  readonly onComplete: () => void;
}

interface Sentence {
  /** The sample at which the sentence is cut. */
  until: number;
}

/**
 * One call as a stereo signal, the caller left, the agent right. The n-th sample is the n-th of the call's clock,
 * so the two sides cannot drift apart. Heard audio is passed to the sink once a second, and then freed. While no
 * audio arrives from the caller it waits longer: delayed audio belongs where it was said.
 */
export class Recording implements CallAudioTap {
  readonly #format: RecordedFormat;
  readonly #sink: RecordingSink;
  readonly #timing: RecordingTiming;
  readonly #deps: RecordingDeps;
  readonly #startedAtMs: number;
  readonly #callerTrack = new AudioTrack();
  readonly #agentTrack = new AudioTrack();
  readonly #placement: CallerPlacement;
  readonly #sentences = new Set<Sentence>();
  /** The sound that the agent's next audio may continue. */
  #streamed: StreamedSound | undefined;
  readonly #stopFlushing: CancelTimer;
  #agentEndsAt = Number.NEGATIVE_INFINITY;
  #writtenTo = 0;
  /** The sample at which the call ended. */
  #endsAt: number | undefined;
  #isOver = false;

  constructor(
    format: RecordedFormat,
    sink: RecordingSink,
    deps: RecordingDeps,
    timing = FILE_TIMING,
  ) {
    this.#timing = timing;
    this.#format = format;
    this.#sink = sink;
    this.#deps = deps;
    this.#startedAtMs = deps.clock.monotonicMs();
    this.#placement = new CallerPlacement(this.#callerTrack, format.input.sampleRateHz);
    this.#stopFlushing = deps.clock.every(timing.flushMs, () => this.#flush());
  }

  /** Buffered audio of both sides. */
  get bufferedSamples(): number {
    return this.#callerTrack.bufferedSamples + this.#agentTrack.bufferedSamples;
  }

  caller(audio: Uint8Array): void {
    if (this.#isStopped) return;
    this.#placement.add(decodeSamples(audio, this.#format.input.encoding), this.#now());
  }

  agent(audio: Uint8Array): void {
    if (this.#isStopped) return;
    const at = this.#agentPlace();
    const aheadSamples = at - this.#now();
    if (aheadSamples > this.#samples(AGENT_AHEAD_MAX_MS)) {
      return this.#break("more of the agent's audio was sent ahead than a recording holds");
    }
    const { speech, input } = this.#format;
    if (speech.encoding === "mp3") return this.#addSentence(at, audio);
    const pcm = decodeSamples(audio, speech.encoding);
    if (speech.sampleRateHz !== input.sampleRateHz) {
      return this.#addStreamed(at, pcm, speech.sampleRateHz);
    }
    this.#agentTrack.place(at, pcm);
    this.#agentEndsAt = at + pcm.length;
  }

  /**
   * A browser with streamed audio hides small gaps with its buffer: audio that is slightly late follows without a
   * gap.
   */
  #agentPlace(): number {
    const { speech, isPaced } = this.#format;
    const isBuffered = !isPaced && speech.encoding !== "mp3";
    const lateSamples = this.#now() - this.#agentEndsAt;
    if (isBuffered && lateSamples <= this.#samples(BUFFERED_MS)) return this.#agentEndsAt;
    return Math.max(this.#now(), this.#agentEndsAt);
  }

  /** Once the call has ended, no audio may follow this moment. */
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
    this.#deps
      .decodeMp3(mp3)
      .then(
        (pcm) => this.#agentTrack.place(at, pcm.subarray(0, Math.max(0, sentence.until - at))),
        (error: unknown) => this.#deps.onSentenceDropped(error),
      )
      .finally(() => {
        this.#sentences.delete(sentence);
        this.#finishWhenDecoded();
      });
  }

  /** Audio that does not follow the piece before it is a new sound. */
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
      ratio: this.#format.input.sampleRateHz / rateHz,
      open: (listener) => this.#deps.openConversion(from, listener),
      onOver: (error) => {
        if (error !== undefined) this.#deps.onSentenceDropped(error);
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
    const { placementMs, holdMs, stallHoldMs, blockMaxMs } = this.#timing;
    this.#placement.settle(now - this.#samples(placementMs));
    const heardTo = Math.min(now - this.#samples(holdMs), this.#placement.endsAt);
    const writable = Math.max(heardTo, now - this.#samples(stallHoldMs));
    this.#writeTo(Math.min(writable, this.#writtenTo + this.#samples(blockMaxMs)));
  }

  #finishWhenDecoded(): void {
    if (this.#isOver || this.#endsAt === undefined || this.#sentences.size > 0) return;
    this.#placement.finish();
    const blockSamples = this.#samples(this.#timing.flushMs);
    while (!this.#isOver && this.#writtenTo < this.#endsAt) {
      this.#writeTo(Math.min(this.#endsAt, this.#writtenTo + blockSamples));
    }
    if (this.#isOver) return;
    this.#isOver = true;
    this.#deps.onComplete();
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
    this.#deps.onBroken(reason);
  }

  /** The time since the call began, in samples. */
  #now(): number {
    return Math.round(this.#samples(this.#deps.clock.monotonicMs() - this.#startedAtMs));
  }

  #samples(durationMs: number): number {
    return (durationMs * this.#format.input.sampleRateHz) / 1_000;
  }
}
