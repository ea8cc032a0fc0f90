import { createHash, randomUUID } from "node:crypto";
import type { CancelTimer, Clock } from "../../time/clock.js";
import {
  type SpeechRequest,
  type SpokenWord,
  VendorError,
  type VendorFault,
} from "../contracts.js";
import type { SocketPool } from "../transport/socket-pools.js";
import {
  openVendorSocket,
  type SocketAccess,
  type SocketDialect,
} from "../transport/socket-vendor.js";
import { SpeechIntake } from "../transport/speech-intake.js";
import { isTooLittle, SpeechTail } from "../transport/speech-tail.js";
import type { VendorSocket } from "../transport/web-socket.js";

/** TTS returns a sentence within a second or two, or not at all. */
const SILENCE_TIMEOUT_MS = 10_000;
const TURN_TIMEOUT_MS = 60_000;

/** Three minutes of PCM at 24 kHz, or many more of MP3: longer than any sentence. */
const TURN_MAX_BYTES = 8 * 1024 * 1024;

/** A vendor that reports the end of a sentence too early may continue it within this time. */
const EARLY_DONE_WAIT_MS = 400;

/** The sentence has ended without audio: another API of the same vendor may return some. */
export class EndedWithoutAudioError extends VendorError {}

/** What a message of the vendor says about the requested sentence. */
export type Said =
  | { readonly kind: "audio"; readonly bytes: Uint8Array }
  | { readonly kind: "words"; readonly words: readonly SpokenWord[] }
  | { readonly kind: "done" }
  | { readonly kind: "failed"; readonly fault: VendorFault; readonly message: string };

export interface TurnReader {
  text(text: string): readonly Said[];
  binary(bytes: Uint8Array): readonly Said[];
}

export interface SpokenTurn {
  readonly vendor: string;
  readonly clock: Clock;
  readonly socket: VendorSocket;
  /** The messages that request the sentence. */
  readonly frames: readonly string[];
  readonly reader: TurnReader;
  readonly speech: SpeechRequest;
  readonly onChunk: (audio: Uint8Array) => void;
  readonly signal: AbortSignal;
  /** The socket has carried earlier sentences, of which a message may be late. */
  readonly isReused: boolean;
  /**
   * Takes over the socket of a sentence that was aborted, or that ended before its vendor's end of sentence; if
   * omitted, it is destroyed.
   */
  readonly onLeft?: (() => void) | undefined;
}

/**
 * Requests one sentence and passes on its audio. True: the socket is in step, and may be kept. Otherwise, and
 * after an error, it is destroyed, or `onLeft` takes it over.
 */
export function speakTurn(turn: SpokenTurn): Promise<boolean> {
  const { vendor, clock, socket, reader, speech, signal } = turn;
  return new Promise((resolve, reject) => {
    let receivedBytes = 0;
    let isSettled = false;
    /** The vendor has reported the end of the sentence, but there is too little audio. */
    let isDoneEarly = false;
    let cancelSilenceTimer: CancelTimer = () => undefined;
    let cancelEarlyTimer: CancelTimer = () => undefined;
    const intake = new SpeechIntake(vendor, speech, turn.onChunk);
    const settle = (error: Error | undefined, isInStep: boolean): void => {
      isSettled = true;
      tail.cancel();
      cancelSilenceTimer();
      cancelEarlyTimer();
      cancelTurnTimer();
      signal.removeEventListener("abort", onAbort);
      socket.listen(NOBODY);
      if (!isInStep) release(turn, error === undefined || signal.aborted);
      if (error === undefined) resolve(isInStep);
      else reject(error);
    };
    const fail = (fault: VendorFault, message: string): void =>
      settle(new VendorError(vendor, fault, `${vendor}: ${message}`), false);
    const failWith = (error: unknown): void =>
      settle(error instanceof Error ? error : new Error(String(error)), false);
    const waitForMore = (): void => {
      cancelSilenceTimer();
      cancelSilenceTimer = clock.after(SILENCE_TIMEOUT_MS, () => fail("timeout", "it fell silent"));
    };
    const onAbort = (): void => fail("aborted", "aborted");
    const finish = (isInStep: boolean): void => {
      if (receivedBytes === 0) {
        const message = `${vendor}: ended without audio`;
        settle(new EndedWithoutAudioError(vendor, "badAnswer", message), false);
        return;
      }
      try {
        intake.end();
      } catch (error) {
        failWith(error);
        return;
      }
      if (!isSettled) settle(undefined, isInStep);
    };
    const tail = new SpeechTail(clock, speech, () => finish(false));
    const waitPastDone = (): void => {
      cancelEarlyTimer();
      cancelEarlyTimer = clock.after(EARLY_DONE_WAIT_MS, () => finish(false));
    };
    const onDone = (): void => {
      const isTwice = isDoneEarly && receivedBytes > 0;
      const isLate = receivedBytes === 0 && turn.isReused;
      const isEarly = receivedBytes > 0 && isTooLittle(tail.receivedMs, speech);
      if (isTwice || !(isLate || isEarly)) return finish(!isDoneEarly);
      isDoneEarly = true;
      waitPastDone();
    };
    const hear = (said: Said): void => {
      if (said.kind === "failed") fail(said.fault, said.message);
      else if (said.kind === "words") {
        tail.words(said.words);
        speech.onWords?.(said.words);
      } else if (said.kind === "audio" && said.bytes.length > 0) {
        receivedBytes += said.bytes.length;
        if (isDoneEarly) waitPastDone();
        if (receivedBytes > TURN_MAX_BYTES) return fail("badAnswer", "the answer is too large");
        tail.audio(said.bytes);
        intake.take(said.bytes);
      } else if (said.kind === "done") onDone();
    };
    const take = (all: readonly Said[]): void => {
      waitForMore();
      try {
        for (const said of all) if (!isSettled) hear(said);
      } catch (error) {
        failWith(error);
      }
    };
    const cancelTurnTimer = clock.after(TURN_TIMEOUT_MS, () => fail("timeout", "too slow"));
    signal.addEventListener("abort", onAbort);
    socket.listen({
      onText: (text) => take(reader.text(text)),
      onBinary: (bytes) => take(reader.binary(bytes)),
      onClosed: (code) => fail("disconnected", `closed with ${code}`),
    });
    waitForMore();
    if (signal.aborted) onAbort();
    else if (!socket.isOpen) fail("disconnected", "closed");
    else for (const frame of turn.frames) socket.sendText(frame);
  });
}

function release({ socket, onLeft }: SpokenTurn, isWithoutFault: boolean): void {
  if (isWithoutFault && socket.isOpen && onLeft !== undefined) onLeft();
  else socket.destroy();
}

const NOBODY = {
  onText: () => undefined,
  onBinary: () => undefined,
  onClosed: () => undefined,
};

/** The differences between TTS vendors with a shared WebSocket, one sentence after the other. */
export interface VoiceDialect extends SocketDialect {
  /** A socket is closed after this many sentences, if the vendor limits them. */
  readonly sentencesMax: number;
  /** Path and query, relative to the vendor's address; sockets of different targets are kept separately. */
  target(request: SpeechRequest): string;
  /** The messages that request a sentence under a new id. */
  frames(request: SpeechRequest, id: string): readonly string[];
  newReader(id: string, request: SpeechRequest): TurnReader;
  /**
   * How long an aborted sentence may still send before its socket is destroyed; if omitted, it is destroyed
   * immediately.
   */
  readonly drainMaxMs?: number;
}

/**
 * Requests over the socket, and by `other` if a sentence ends there without audio: a vendor's plain requests are
 * another service than its sockets.
 */
export async function speakOver(
  socket: () => Promise<void>,
  other: (onChunk: (audio: Uint8Array) => void) => Promise<void>,
  onChunk: (audio: Uint8Array) => void,
  signal: AbortSignal,
): Promise<void> {
  try {
    await socket();
  } catch (error) {
    if (!(error instanceof EndedWithoutAudioError) || signal.aborted) throw error;
    let hasAudio = false;
    const take = (audio: Uint8Array) => {
      hasAudio = true;
      onChunk(audio);
    };
    try {
      await other(take);
    } catch (second) {
      // The socket accepted key, model and text, so a refusal of the plain request says less about the sentence.
      throw hasAudio || signal.aborted ? second : error;
    }
  }
}

/** How many sentences a socket has carried, since it is shared between calls. */
const sentencesOn = new WeakMap<VendorSocket, number>();

/** Sockets are kept between sentences, and shared by the calls that use the same key, model and format. */
export class SocketVoice {
  readonly #dialect: VoiceDialect;
  readonly #access: SocketAccess;

  constructor(dialect: VoiceDialect, access: SocketAccess) {
    this.#dialect = dialect;
    this.#access = access;
  }

  /**
   * As `TextToSpeech.synthesize`. After an abort the socket is destroyed, or set aside until the rest of the
   * sentence has arrived, so that it does not reach the next sentence.
   */
  async synthesize(
    request: SpeechRequest,
    onChunk: (audio: Uint8Array) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { vendor, drainMaxMs } = this.#dialect;
    if (signal.aborted) throw new VendorError(vendor, "aborted", `${vendor}: aborted`);
    const target = this.#dialect.target(request);
    const pool = this.#pool(target);
    const socket = pool.take() ?? (await this.#open(target, signal));
    const id = randomUUID();
    const reader = this.#dialect.newReader(id, request);
    const isInStep = await speakTurn({
      vendor,
      clock: this.#access.context.clock,
      socket,
      frames: this.#dialect.frames(request, id),
      reader,
      speech: request,
      onChunk,
      signal,
      isReused: sentencesOn.has(socket),
      onLeft:
        drainMaxMs === undefined ? undefined : () => this.#drain(pool, socket, reader, drainMaxMs),
    });
    if (isInStep) this.#keep(pool, socket);
  }

  /** Opens a socket of this target before its first sentence; a failure is left to that sentence. */
  warm(target: string): void {
    const { ended } = this.#access.context.connections.socketPools;
    this.#pool(target)
      .warm(() => this.#open(target, ended))
      .catch(() => undefined);
  }

  #keep(pool: SocketPool, socket: VendorSocket): void {
    const sentences = (sentencesOn.get(socket) ?? 0) + 1;
    sentencesOn.set(socket, sentences);
    if (sentences < this.#dialect.sentencesMax) pool.release(socket);
    else socket.destroy();
  }

  #drain(pool: SocketPool, socket: VendorSocket, reader: TurnReader, maxMs: number): void {
    const { clock, connections } = this.#access.context;
    const { ended } = connections.socketPools;
    const end = (isClean: boolean): void => {
      cancel();
      ended.removeEventListener("abort", discard);
      if (isClean) this.#keep(pool, socket);
      else socket.destroy();
    };
    const discard = (): void => end(false);
    const cancel = clock.after(maxMs, discard);
    ended.addEventListener("abort", discard);
    const take = (all: readonly Said[]): void => {
      const last = all.find(({ kind }) => kind === "done" || kind === "failed");
      if (last !== undefined) end(last.kind === "done");
    };
    socket.listen({
      onText: (text) => take(reader.text(text)),
      onBinary: (bytes) => take(reader.binary(bytes)),
      onClosed: discard,
    });
  }

  #pool(target: string): SocketPool {
    const { context, endpoint, clientOwned, orgId, apiKey } = this.#access;
    const key = createHash("sha256").update(apiKey).digest("base64");
    return context.connections.socketPools.pool(
      JSON.stringify([this.#dialect.vendor, endpoint, clientOwned, key, target]),
      orgId,
    );
  }

  #open(target: string, signal: AbortSignal): Promise<VendorSocket> {
    return openVendorSocket(this.#dialect, this.#access, target, signal);
  }
}
