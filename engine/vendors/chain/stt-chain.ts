import { bytesOfMs, bytesPerMs, type InputFormat } from "../../audio/audio-format.js";
import type { CancelTimer, Clock } from "../../time/clock.js";
import {
  type ListenOptions,
  type SpeechListener,
  type SpeechStream,
  type SpeechToText,
  type Transcript,
  VendorError,
} from "../contracts.js";
import { AudioRing, UnsettledAudio } from "../stt-stream/audio-feed.js";
import { asVendorError, type Chain, type ChainLink, worstOf } from "./chain.js";
import { ReplyTimeout } from "./chain-timeouts.js";

export interface SuspectedStall<Link> {
  readonly link: Link;
  /** How much audio of the call had arrived. */
  readonly heardMs: number;
  /** On the server's clock. */
  readonly sinceMs: number;
}

/**
 * A call's suspicion that an STT which returns no words for a voice has failed. The voice may be noise, so no STT
 * counts as failed before another one has returned words for the same audio. After one wrong suspicion, the call
 * suspects only an STT that seems dead.
 */
export class SttStalls<Link> {
  #doubted: SuspectedStall<Link> | undefined;
  #isOver = false;

  /** False if the suspicion has no effect. */
  suspect(doubted: SuspectedStall<Link>, how: "doubtful" | "deaf"): boolean {
    if (this.#doubted !== undefined || (this.#isOver && how === "doubtful")) return false;
    this.#doubted = doubted;
    return true;
  }

  /** No STT has returned words since. */
  isOpen(doubted: SuspectedStall<Link>): boolean {
    return this.#doubted === doubted;
  }

  /** No other STT could be opened: the next time that it seems dead is counted from zero. */
  dismiss(doubted: SuspectedStall<Link>): void {
    if (this.#doubted !== doubted) return;
    this.#doubted = undefined;
    this.#isOver = true;
  }

  /** An STT returns words: returns the suspicion that they confirm. Their time is on the clock of the call's audio. */
  settle(link: Link, lastWordEndMs: number | undefined): SuspectedStall<Link> | undefined {
    const doubted = this.#doubted;
    if (doubted === undefined) return undefined;
    this.#doubted = undefined;
    const isOfIt = lastWordEndMs !== undefined && lastWordEndMs <= doubted.heardMs;
    if (isOfIt && link !== doubted.link) return doubted;
    this.#isOver = true;
    return undefined;
  }
}

/** Backlog is sent in steps of this length at this multiple of real time: the vendor would refuse a burst. */
const STEP_MS = 20;
const SPEED = 2;

/** The newest audio of a call, and its replay to an STT that has not received it. */
export class PacedReplay {
  readonly #clock: Clock;
  readonly #format: InputFormat;
  readonly #keptMs: number;
  readonly #ring: AudioRing;
  #nextByte = 0;
  #steppedMs = 0;
  #cancel: CancelTimer | undefined;

  constructor(
    clock: Clock,
    format: InputFormat,
    keptMs: number,
    ring = new AudioRing(bytesOfMs(format, keptMs)),
  ) {
    this.#clock = clock;
    this.#format = format;
    this.#keptMs = keptMs;
    this.#ring = ring;
  }

  /** Replays the same audio to a second STT; only one of the two may `keep` new audio. */
  beside(): PacedReplay {
    return new PacedReplay(this.#clock, this.#format, this.#keptMs, this.#ring);
  }

  /** A replay is in progress: new audio follows it. */
  get isUnderway(): boolean {
    return this.#cancel !== undefined;
  }

  get endByte(): number {
    return this.#ring.endByte;
  }

  get startByte(): number {
    return this.#ring.startByte;
  }

  keep(audio: Uint8Array): void {
    this.#ring.write(audio);
  }

  /** Replays all audio from this byte on, and then new audio, until it has caught up. */
  start(fromByte: number, write: (audio: Uint8Array) => void): void {
    this.stop();
    this.#nextByte = fromByte;
    if (fromByte >= this.#ring.endByte) return;
    this.#steppedMs = this.#clock.monotonicMs();
    this.#cancel = this.#clock.every(STEP_MS, () => this.#step(write));
  }

  /** Sends the rest immediately: the call ends. */
  flush(write: (audio: Uint8Array) => void): void {
    if (!this.isUnderway) return;
    this.stop();
    write(this.#ring.read(this.#nextByte, this.#ring.endByte));
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = undefined;
  }

  #step(write: (audio: Uint8Array) => void): void {
    // A late step sends correspondingly more: with fixed steps a busy process would never catch up
    // with the caller.
    const nowMs = this.#clock.monotonicMs();
    const stepBytes = bytesOfMs(this.#format, Math.floor((nowMs - this.#steppedMs) * SPEED));
    this.#steppedMs = nowMs;
    const fromByte = Math.max(this.#nextByte, this.#ring.startByte);
    const toByte = Math.min(fromByte + stepBytes, this.#ring.endByte);
    this.#nextByte = toByte;
    if (toByte === this.#ring.endByte) this.stop();
    if (toByte > fromByte) write(this.#ring.read(fromByte, toByte));
  }
}

type Link = ChainLink<SpeechToText>;

/** How long audio without words is kept: a dead STT is detected after about five seconds of speech. */
const KEPT_MS = 8_000;
/** A broken connection recovers within this time, or another STT takes over. */
const LOST_MAX_MS = 700;
/** An STT that worked for this long was a good choice; changes in shorter intervals belong to one outage. */
const STABLE_AFTER_MS = 10_000;
const CHANGES_MAX = 6;
/** No other STT exists: the last one is awaited, and used whenever it answers. */
const ALWAYS: Wanted = { isLastAwaited: true, isSo: () => true };

interface Wanted {
  readonly isLastAwaited: boolean;
  readonly isSo: () => boolean;
}

export interface ChainedStreamParts {
  readonly chain: Chain<SpeechToText>;
  readonly format: InputFormat;
  readonly listener: SpeechListener;
  readonly signal: AbortSignal;
  /** Rejects with a VendorError that has been counted. `isLast`: there is no fallback. */
  readonly open: (
    link: Link,
    listener: SpeechListener,
    signal: AbortSignal,
    isLast: boolean,
  ) => Promise<SpeechStream>;
}

/** A second STT in parallel with the current one, which seems dead and may only be slow. */
interface Beside {
  readonly link: Link;
  readonly stream: SpeechStream;
  readonly turn: number;
  readonly replay: PacedReplay;
  readonly baseByte: number;
}

/**
 * One call's STT stream over the chain. When an STT is lost or fails, the next one gets the audio without words again.
 * Times are those of the whole stream, whichever STT reports them.
 */
export class ChainedStream implements SpeechStream {
  readonly #parts: ChainedStreamParts;
  #replay: PacedReplay;
  readonly #unsettled: UnsettledAudio;
  readonly #bytesPerMs: number;
  readonly #ending = new AbortController();
  readonly #until: AbortSignal;
  readonly #onAbort = () => this.close();
  #stream: SpeechStream | undefined;
  #link: Link | undefined;
  /** The first of the two that returns words continues alone. */
  #beside: Beside | undefined;
  /** STTs that were found to be dead since the last words. */
  readonly #deaf = new Set<Link>();
  /** Connection epoch; events from an older epoch are ignored. */
  #turns = 0;
  #turn = 0;
  readonly #doubts = new SttStalls<Link>();
  /** The position in the whole stream where the current STT's time begins. */
  #baseByte = 0;
  #openedAtMs = 0;
  #changes = 0;
  #failedAtMs: number | undefined;
  /** When the current STT last reconnected by itself. */
  #recoveredAtMs: number | undefined;
  #cancelLost: CancelTimer = () => undefined;
  #isClosed = false;

  constructor(parts: ChainedStreamParts) {
    this.#parts = parts;
    const { chain, format, signal } = parts;
    this.#replay = new PacedReplay(chain.clock, format, KEPT_MS);
    this.#bytesPerMs = bytesPerMs(format);
    this.#unsettled = new UnsettledAudio(format);
    this.#until = AbortSignal.any([signal, this.#ending.signal]);
    signal.addEventListener("abort", this.#onAbort);
  }

  /** Opens the first STT that accepts audio. Rejects with a VendorError when none does. */
  async start(): Promise<void> {
    const failures = await this.#openOneOf(this.#parts.chain.candidates());
    if (failures === undefined) return;
    this.close();
    throw worstOf(failures);
  }

  write(audio: Uint8Array): void {
    if (this.#isClosed || audio.length === 0) return;
    this.#replay.keep(audio);
    this.#unsettled.hear(audio);
    if (!this.#replay.isUnderway) this.#stream?.write(audio);
    const beside = this.#beside;
    if (beside?.replay.isUnderway === false) beside.stream.write(audio);
  }

  async finish(): Promise<void> {
    const stream = this.#stream;
    if (this.#isClosed || stream === undefined) return this.close();
    this.#cancelLost();
    this.#dropBeside();
    this.#replay.flush((audio) => stream.write(audio));
    await stream.finish();
    this.close();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#parts.signal.removeEventListener("abort", this.#onAbort);
    this.#cancelLost();
    this.#replay.stop();
    this.#dropBeside();
    this.#stream?.close();
    this.#stream = undefined;
    this.#ending.abort();
  }

  /** Why no STT could be opened; undefined when one was, or when none is `wanted` any longer. */
  async #openOneOf(
    links: readonly Link[],
    wanted: Wanted = ALWAYS,
    attach = (link: Link, stream: SpeechStream, turn: number) => this.#attach(link, stream, turn),
  ): Promise<readonly VendorError[] | undefined> {
    const failures: VendorError[] = [];
    for (const [index, link] of links.entries()) {
      this.#turns += 1;
      const turn = this.#turns;
      try {
        const isLast = wanted.isLastAwaited && index === links.length - 1;
        const stream = await this.#parts.open(link, this.#ears(link, turn), this.#until, isLast);
        if (this.#isClosed || !wanted.isSo()) stream.close();
        else attach(link, stream, turn);
        return undefined;
      } catch (cause) {
        failures.push(asVendorError(link.vendor, cause));
        if (this.#isClosed || this.#until.aborted) return failures;
      }
    }
    return failures;
  }

  #attach(link: Link, stream: SpeechStream, turn: number): void {
    this.#stream?.close();
    this.#turn = turn;
    this.#link = link;
    this.#stream = stream;
    this.#openedAtMs = this.#parts.chain.clock.monotonicMs();
    this.#recoveredAtMs = undefined;
    this.#baseByte = Math.max(this.#unsettled.fromByte, this.#replay.startByte);
    this.#replay.start(this.#baseByte, (audio) => stream.write(audio));
  }

  /** The events of one STT, while it is the active one. */
  #ears(link: Link, turn: number): SpeechListener {
    const { listener, chain } = this.#parts;
    const now = (tell: () => void) => {
      if (turn === this.#turn && !this.#isClosed) tell();
    };
    const isBeside = () => turn === this.#beside?.turn;
    return {
      onSpeechStarted: () => now(() => listener.onSpeechStarted()),
      onTranscript: (transcript) => {
        if (isBeside() && transcript.text !== "") this.#promoteBeside();
        now(() => this.#hear(link, transcript));
      },
      onUtteranceEnd: (endMs) => now(() => listener.onUtteranceEnd(this.#streamMs(endMs))),
      onTurn: (event) => now(() => listener.onTurn(event)),
      onSttStall: (how) => now(() => void this.#suspectStall(link, how)),
      onLost: (error) => now(() => this.#lose(error)),
      onRecovered: (sttOutageMs) =>
        now(() => {
          this.#cancelLost();
          this.#failedAtMs = undefined;
          this.#recoveredAtMs = chain.clock.monotonicMs();
          listener.onRecovered(sttOutageMs);
        }),
      onFailed: (error) => {
        if (turn !== this.#turn && !isBeside()) return;
        if (error.fault === "timeout") this.#deaf.add(link);
        chain.failed(link, error, { ms: this.#sttOutageMs(), tokens: 0 });
        if (isBeside()) this.#dropBeside();
        else if (this.#beside !== undefined) this.#promoteBeside();
        else void this.#change();
      },
    };
  }

  #attachBeside(link: Link, stream: SpeechStream, turn: number): void {
    const replay = this.#replay.beside();
    const baseByte = Math.max(this.#unsettled.fromByte, this.#replay.startByte);
    this.#beside = { link, stream, turn, replay, baseByte };
    replay.start(baseByte, (audio) => stream.write(audio));
  }

  #dropBeside(): void {
    const beside = this.#beside;
    this.#beside = undefined;
    beside?.replay.stop();
    beside?.stream.close();
  }

  /** It has received all audio since the last result, and continues alone. */
  #promoteBeside(): void {
    const beside = this.#beside;
    if (beside === undefined) return;
    this.#beside = undefined;
    this.#cancelLost();
    this.#failedAtMs = undefined;
    this.#recoveredAtMs = undefined;
    this.#replay.stop();
    this.#turn = beside.turn;
    this.#link = beside.link;
    this.#replay = beside.replay;
    this.#baseByte = beside.baseByte;
    this.#openedAtMs = this.#parts.chain.clock.monotonicMs();
    const left = this.#stream;
    this.#stream = beside.stream;
    left?.close();
  }

  #hear(link: Link, { lastWordEndMs: endMs, ...transcript }: Transcript): void {
    const { listener } = this.#parts;
    const lastWordEndMs = endMs === undefined ? undefined : this.#streamMs(endMs);
    if (transcript.text !== "") this.#hasWords(link, lastWordEndMs);
    if (transcript.isFinal && transcript.text !== "") this.#unsettled.settle(lastWordEndMs);
    listener.onTranscript({ ...transcript, lastWordEndMs });
  }

  #hasWords(link: Link, lastWordEndMs: number | undefined): void {
    const { chain } = this.#parts;
    this.#dropBeside();
    this.#deaf.clear();
    const deaf = this.#doubts.settle(link, lastWordEndMs);
    if (deaf !== undefined) {
      const { vendor } = deaf.link;
      const error = new VendorError(vendor, "timeout", `${vendor}: returned no words for speech`);
      const ms = Math.round(chain.clock.monotonicMs() - deaf.sinceMs);
      chain.failed(deaf.link, error, { ms, tokens: 0 });
    }
    chain.answered(link);
  }

  /**
   * The current STT may be dead or slow: a second one is opened in parallel, and the first that returns words
   * continues.
   */
  async #suspectStall(link: Link, how: "doubtful" | "deaf"): Promise<void> {
    const { chain } = this.#parts;
    const turn = this.#turn;
    const heardMs = this.#replay.endByte / this.#bytesPerMs;
    const doubted = { link, heardMs, sinceMs: chain.clock.monotonicMs() };
    if (this.#failedAtMs !== undefined || !this.#doubts.suspect(doubted, how)) return;
    const isSo = () =>
      turn === this.#turn && this.#failedAtMs === undefined && this.#doubts.isOpen(doubted);
    const others = chain.candidates().filter((each) => each !== link);
    const links = how === "deaf" ? [...others, link] : others;
    const wanted = { isLastAwaited: false, isSo };
    const attach = this.#attachBeside.bind(this);
    const failures = await this.#openOneOf(links, wanted, attach);
    if (failures !== undefined) this.#doubts.dismiss(doubted);
  }

  #streamMs(ownMs: number): number {
    return Math.round(this.#baseByte / this.#bytesPerMs + ownMs);
  }

  /**
   * It reconnects by itself, and gets the audio without words again. An STT that seems dead, or whose connection
   * breaks again, is replaced.
   */
  #lose(error: VendorError): void {
    const { chain, listener } = this.#parts;
    const nowMs = chain.clock.monotonicMs();
    const isLostAgain = nowMs - (this.#recoveredAtMs ?? Number.NEGATIVE_INFINITY) < STABLE_AFTER_MS;
    this.#failedAtMs ??= nowMs;
    listener.onLost(error);
    if (this.#isClosed) return;
    this.#cancelLost();
    if (this.#beside !== undefined) {
      if (this.#link !== undefined) chain.failed(this.#link, error, { ms: 0, tokens: 0 });
      this.#promoteBeside();
      return listener.onRecovered(0);
    }
    const leave = () => {
      if (this.#link !== undefined) {
        chain.failed(this.#link, error, { ms: this.#sttOutageMs(), tokens: 0 });
      }
      void this.#change();
    };
    if (error.fault === "timeout" || isLostAgain) leave();
    else this.#cancelLost = chain.clock.after(LOST_MAX_MS, leave);
  }

  #sttOutageMs(): number {
    const { clock } = this.#parts.chain;
    return this.#failedAtMs === undefined ? 0 : Math.round(clock.monotonicMs() - this.#failedAtMs);
  }

  async #change(): Promise<void> {
    const { chain, listener } = this.#parts;
    const left = this.#link;
    const nowMs = chain.clock.monotonicMs();
    this.#failedAtMs ??= nowMs;
    this.#cancelLost();
    this.#replay.stop();
    this.#turns += 1;
    this.#turn = this.#turns;
    this.#stream?.close();
    this.#stream = undefined;
    this.#changes = nowMs - this.#openedAtMs >= STABLE_AFTER_MS ? 1 : this.#changes + 1;
    const others = chain.candidates().filter((link) => link !== left && !this.#deaf.has(link));
    const links = this.#changes > CHANGES_MAX ? [] : others;
    const failures = await this.#openOneOf(links);
    if (this.#isClosed) return;
    if (failures !== undefined) {
      this.close();
      listener.onFailed(worstOf(failures));
      return;
    }
    const sttOutageMs = this.#sttOutageMs();
    this.#failedAtMs = undefined;
    listener.onRecovered(sttOutageMs);
  }
}

export type RecognizerLink = ChainLink<SpeechToText>;

/**
 * A chain of STTs. An STT that does not accept audio within `openTimeoutMs` is replaced by the next, at
 * the beginning of a call and within it.
 */
export class ChainedRecognizer implements SpeechToText {
  readonly #chain: Chain<SpeechToText>;
  readonly #openTimeoutMs: number;

  constructor(chain: Chain<SpeechToText>, openTimeoutMs: number) {
    this.#chain = chain;
    this.#openTimeoutMs = openTimeoutMs;
  }

  /** Each vendor uses its own model; the model in the options is ignored. */
  async open(
    options: ListenOptions,
    listener: SpeechListener,
    signal: AbortSignal,
  ): Promise<SpeechStream> {
    const chain = this.#chain;
    if (chain.isSingle) return this.#openOnly(options, listener, signal);
    const stream = new ChainedStream({
      chain,
      format: options.format,
      listener,
      signal,
      open: (link, hears, until, isLast) =>
        opened(chain, link, { ...options, modelId: link.modelId }, hears, until, {
          limitMs: isLast ? undefined : this.#openTimeoutMs,
        }),
    });
    await stream.start();
    return stream;
  }

  /** A single STT reconnects by itself, without a layer between it and the call. */
  async #openOnly(
    options: ListenOptions,
    listener: SpeechListener,
    signal: AbortSignal,
  ): Promise<SpeechStream> {
    const link = this.#chain.first;
    const given = { ...options, modelId: link.modelId };
    const stream = await opened(this.#chain, link, given, listener, signal, {
      limitMs: undefined,
    });
    this.#chain.answered(link);
    return stream;
  }
}

/** Opens one vendor's stream, or counts its failure. Rejects with a VendorError. */
async function opened(
  chain: Chain<SpeechToText>,
  link: RecognizerLink,
  options: ListenOptions,
  listener: SpeechListener,
  signal: AbortSignal,
  { limitMs }: { readonly limitMs: number | undefined },
): Promise<SpeechStream> {
  const timeouts = new ReplyTimeout(chain.clock, limitMs, signal);
  const { vendor, client, breaker } = link;
  breaker.onRequest();
  try {
    return await client.open(options, listener, timeouts.signal);
  } catch (cause) {
    if (signal.aborted) breaker.abandoned();
    const error = timeouts.isOver
      ? new VendorError(vendor, "timeout", `${vendor}: not connected in time`, { cause })
      : asVendorError(vendor, cause);
    if (!signal.aborted) {
      chain.failed(link, error, { ms: Math.round(timeouts.passedMs), tokens: 0 });
    }
    throw error;
  } finally {
    timeouts.end();
  }
}
