import { createHash, randomUUID } from "node:crypto";
import { type SpeechRequest, VendorError, type VendorFault } from "../contracts.js";
import type { SocketPool } from "../transport/socket-pools.js";
import { openSocket, type RefusedUpgrade, type VendorSocket } from "../transport/web-socket.js";
import { faultOfStatus, type RefusalDetail, refusal } from "../vendor-fault.js";
import type { Endpoint, VendorContext } from "../vendor-settings.js";
import { type Said, speakTurn, type TurnReader } from "./spoken-turn.js";

const OPEN_TIMEOUT_MS = 5_000;

/** What differs between the voices that speak over a kept WebSocket, one sentence after the other. */
export interface VoiceDialect {
  readonly vendor: string;
  /** A socket is left after so many sentences, where the vendor bears no more. */
  readonly sentencesMax: number;
  /** Path and query below the vendor's address; sockets of different ones are kept apart. */
  target(request: SpeechRequest): string;
  /** The messages that ask for a sentence under an id that was never used before. */
  frames(request: SpeechRequest, id: string): readonly string[];
  newReader(id: string, request: SpeechRequest): TurnReader;
  refusalDetail(answer: RefusedUpgrade): RefusalDetail;
  /** Where the vendor's own word says more than the status. */
  refusalFault?(code: string | undefined, status: number): VendorFault;
  /** So long an aborted sentence may still send before its socket is broken; left out, it is broken at once. */
  readonly drainMaxMs?: number;
}

export interface VoiceAccess {
  readonly context: VendorContext;
  readonly endpoint: Endpoint;
  readonly clientOwned: boolean;
  readonly apiKey: string;
  /** Carries the key. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Sockets are kept between sentences, and shared by the calls that speak with the same key, model and format. */
export class SocketVoice {
  readonly #dialect: VoiceDialect;
  readonly #access: VoiceAccess;
  readonly #sentences = new WeakMap<VendorSocket, number>();

  constructor(dialect: VoiceDialect, access: VoiceAccess) {
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
    await speakTurn({
      vendor,
      clock: this.#access.context.clock,
      socket,
      frames: this.#dialect.frames(request, id),
      reader,
      onChunk,
      onWords: request.onWords,
      signal,
      onLeft:
        drainMaxMs === undefined ? undefined : () => this.#drain(pool, socket, reader, drainMaxMs),
    });
    this.#keep(pool, socket);
  }

  /** Opens a socket of this target ahead of its first sentence; a failure is left to that sentence. */
  warm(target: string): void {
    const { ended } = this.#access.context.connections.socketPools;
    this.#pool(target)
      .warm(() => this.#open(target, ended))
      .catch(() => undefined);
  }

  #keep(pool: SocketPool, socket: VendorSocket): void {
    const sentences = (this.#sentences.get(socket) ?? 0) + 1;
    this.#sentences.set(socket, sentences);
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
    ended.addEventListener("abort", discard, { once: true });
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
    const { context, endpoint, clientOwned, apiKey } = this.#access;
    const key = createHash("sha256").update(apiKey).digest("base64");
    return context.connections.socketPools.pool(
      JSON.stringify([this.#dialect.vendor, endpoint, clientOwned, key, target]),
    );
  }

  #open(target: string, signal: AbortSignal): Promise<VendorSocket> {
    const { vendor } = this.#dialect;
    const { context, endpoint, clientOwned, apiKey, headers } = this.#access;
    const origin = endpoint.origin.replace(/^http/, "ws");
    const url = `${origin}${endpoint.path}${target}`;
    return openSocket(
      {
        vendor,
        url,
        headers,
        dispatcher: context.connections.forSocket(url, clientOwned),
        clock: context.clock,
        openTimeoutMs: OPEN_TIMEOUT_MS,
        offersCompression: false,
        refuse: (answer) => {
          const detail = this.#dialect.refusalDetail(answer);
          const nowMs = context.clock.epochMs();
          return refusal(
            vendor,
            this.#dialect.refusalFault?.(detail.code, answer.status) ??
              faultOfStatus(answer.status),
            { ...answer, nowMs },
            detail,
            apiKey,
          );
        },
      },
      signal,
    );
  }
}
