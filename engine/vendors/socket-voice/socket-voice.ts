import { createHash, randomUUID } from "node:crypto";
import { type SpeechRequest, VendorError } from "../contracts.js";
import type { SocketPool } from "../transport/socket-pools.js";
import {
  openVendorSocket,
  type SocketAccess,
  type SocketDialect,
} from "../transport/socket-vendor.js";
import type { VendorSocket } from "../transport/web-socket.js";
import { EndedWithoutAudio, type Said, speakTurn, type TurnReader } from "./spoken-turn.js";

/** What differs between the voices that speak over a kept WebSocket, one sentence after the other. */
export interface VoiceDialect extends SocketDialect {
  /** A socket is left after so many sentences, where the vendor bears no more. */
  readonly sentencesMax: number;
  /** Path and query below the vendor's address; sockets of different ones are kept apart. */
  target(request: SpeechRequest): string;
  /** The messages that ask for a sentence under an id that was never used before. */
  frames(request: SpeechRequest, id: string): readonly string[];
  newReader(id: string, request: SpeechRequest): TurnReader;
  /** So long an aborted sentence may still send before its socket is broken; left out, it is broken at once. */
  readonly drainMaxMs?: number;
}

/**
 * Asks over the socket, and where that ends a sentence without any audio, by `other`: a vendor's plain requests are another service
 * than its sockets.
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
    if (!(error instanceof EndedWithoutAudio) || signal.aborted) throw error;
    let hasAudio = false;
    const take = (audio: Uint8Array) => {
      hasAudio = true;
      onChunk(audio);
    };
    try {
      await other(take);
    } catch (second) {
      // The socket took key, model and text: what plain requests are refused for says less about the sentence.
      throw hasAudio || signal.aborted ? second : error;
    }
  }
}

/** How many sentences a socket has borne: it goes from one call's client to the next. */
const sentencesOn = new WeakMap<VendorSocket, number>();

/** Sockets are kept between sentences, and shared by the calls that speak with the same key, model and format. */
export class SocketVoice {
  readonly #dialect: VoiceDialect;
  readonly #access: SocketAccess;

  constructor(dialect: VoiceDialect, access: SocketAccess) {
    this.#dialect = dialect;
    this.#access = access;
  }

  /**
   * As `TextToSpeech.synthesize`. After an abort the socket is broken, or waits apart until what it would still send has come:
   * that is not for the next sentence.
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

  /** Opens a socket of this target ahead of its first sentence; a failure is left to that sentence. */
  warm(target: string): void {
    const { ended } = this.#access.context.connections.socketPools;
    this.#pool(target)
      .warm(() => this.#open(target, ended))
      .catch(() => undefined);
  }

  #keep(pool: SocketPool, socket: VendorSocket): void {
    const sentences = (sentencesOn.get(socket) ?? 0) + 1;
    sentencesOn.set(socket, sentences);
    if (sentences < this.#dialect.sentencesMax) pool.give(socket);
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
