import { Worker } from "node:worker_threads";
import type { EmbeddingStore, StoredChoice } from "../../storage/knowledge/embedding-store.js";
import type { Clock } from "../time/clock.js";
import type { FromVectorThread, ParsedVectors, ToVectorThread } from "./vector-protocol.js";

const THREAD = new URL("./vector-thread.js", import.meta.url);

/** Passages of one organization that are embedded, and whose vectors are scanned by a search. */
export const VECTORS_PER_ORGANIZATION_MAX = 10_000;
/** All vectors that a process holds; those of the organization that was not used longest are dropped first. */
export const VECTOR_BYTES_MAX = 128 * 1024 * 1024;
const BYTES_PER_VALUE = 4;
/** Vectors read at a time, so that no message blocks the event loop of calls. */
const VECTORS_PER_PAGE = 50;
/** While documents are embedded, their organization's vectors are not read anew for each call. */
export const RELOAD_MIN_MS = 10_000;
/** Organizations whose vectors wait to be read; a further one has no vectors in this call. */
const LOADS_WAITING_MAX = 100;
/** Requests that the thread has not answered; further ones are refused. */
export const THREAD_REQUESTS_MAX = 64;

/** The vectors of one organization in the thread. */
interface HeldSet {
  readonly key: string;
  readonly setId: string;
  readonly revision: number;
  readonly sizeBytes: number;
  readonly loadedAtMs: number;
}

export interface VectorSetsOptions {
  readonly store: Pick<EmbeddingStore, "vectors">;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
}

/** Parses embeddings, and searches those of organizations, in a thread of its own that starts with the first use. */
export class VectorSets {
  readonly #options: VectorSetsOptions;
  readonly #pending = new Map<number, (reply: FromVectorThread | undefined) => void>();
  /** By organization, the least recently used first. */
  readonly #held = new Map<string, HeldSet>();
  readonly #loading = new Map<string, Promise<void>>();
  #worker: Worker | undefined;
  #queue: Promise<void> = Promise.resolve();
  #lastId = 0;
  #isClosed = false;

  constructor(options: VectorSetsOptions) {
    this.#options = options;
  }

  /** Undefined if the answer does not have the expected form, or the thread has too much to do. */
  async parse(answer: Uint8Array, count: number): Promise<ParsedVectors | undefined> {
    const reply = await this.#request((id) => ({ kind: "parse", id, answer, count }));
    return reply?.kind === "parsed" ? reply.result : undefined;
  }

  /** Reads the vectors of this choice unless they are held. Resolves when they are, or when there is no room. */
  load(choice: StoredChoice): Promise<void> {
    const { orgId } = choice;
    const held = this.#held.get(orgId);
    if (held !== undefined && this.#isFresh(held, choice)) {
      this.#held.delete(orgId);
      this.#held.set(orgId, held);
      return Promise.resolve();
    }
    const known = this.#loading.get(orgId);
    if (known !== undefined || this.#loading.size >= LOADS_WAITING_MAX) {
      return known ?? Promise.resolve();
    }
    const loading = this.#queue
      .then(() => this.#load(choice))
      .catch(this.#options.onError)
      .finally(() => this.#loading.delete(orgId));
    this.#queue = loading;
    this.#loading.set(orgId, loading);
    return loading;
  }

  /**
   * Returns the passages of the documents that are nearest to the one vector of the answer, the nearest first. Undefined
   * if this choice's vectors are not held, the answer does not fit them, or the thread has too much to do.
   */
  async search(
    { orgId, setId }: Pick<StoredChoice, "orgId" | "setId">,
    answer: Uint8Array,
    documentIds: readonly string[],
    limit: number,
  ): Promise<readonly number[] | undefined> {
    const held = this.#held.get(orgId);
    if (held?.setId !== setId) return undefined;
    const { key } = held;
    const reply = await this.#request((id) => {
      return { kind: "search", id, key, answer, documentIds, limit };
    });
    return reply?.kind === "found" ? reply.passages : undefined;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const worker = this.#worker;
    this.#threadEnded();
    await worker?.terminate();
  }

  #isFresh({ setId, revision, loadedAtMs }: HeldSet, choice: StoredChoice): boolean {
    if (setId !== choice.setId) return false;
    if (revision === choice.revision) return true;
    return this.#options.clock.monotonicMs() - loadedAtMs < RELOAD_MIN_MS;
  }

  /** The earlier vectors of the organization can be searched until all new ones are there. */
  async #load({ orgId, setId, revision, dimensions }: StoredChoice): Promise<void> {
    if (this.#isClosed) return;
    const { store, clock } = this.#options;
    const key = `${orgId} ${this.#nextId()}`;
    this.#post({ kind: "begin", key, dimensions });
    const worker = this.#worker;
    let last = -1;
    let count = 0;
    while (count < VECTORS_PER_ORGANIZATION_MAX) {
      const vectors = await store.vectors({ orgId, setId }, last, VECTORS_PER_PAGE);
      // A thread that has ended took the vectors before with it.
      if (this.#worker !== worker || this.#isClosed) return;
      this.#post({ kind: "add", key, vectors });
      count += vectors.length;
      last = vectors.at(-1)?.passage ?? last;
      if (vectors.length < VECTORS_PER_PAGE) break;
    }
    this.#drop(orgId);
    const sizeBytes = count * dimensions * BYTES_PER_VALUE;
    const loadedAtMs = clock.monotonicMs();
    this.#held.set(orgId, { key, setId, revision, sizeBytes, loadedAtMs });
    this.#makeRoom(orgId);
  }

  #makeRoom(orgId: string): void {
    let sizeBytes = [...this.#held.values()].reduce((sum, held) => sum + held.sizeBytes, 0);
    for (const [oldest, held] of this.#held) {
      if (sizeBytes <= VECTOR_BYTES_MAX || oldest === orgId) return;
      sizeBytes -= held.sizeBytes;
      this.#drop(oldest);
    }
  }

  #drop(orgId: string): void {
    const held = this.#held.get(orgId);
    if (held === undefined) return;
    this.#held.delete(orgId);
    this.#post({ kind: "drop", key: held.key });
  }

  #request(messageOf: (id: number) => ToVectorThread): Promise<FromVectorThread | undefined> {
    if (this.#isClosed || this.#pending.size >= THREAD_REQUESTS_MAX) {
      return Promise.resolve(undefined);
    }
    const id = this.#nextId();
    return new Promise((resolve) => {
      this.#pending.set(id, resolve);
      this.#post(messageOf(id));
    });
  }

  #nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  #post(message: ToVectorThread): void {
    this.#worker ??= this.#start();
    this.#worker.postMessage(message);
  }

  #start(): Worker {
    const worker = new Worker(THREAD);
    worker.unref();
    worker.on("message", (reply: FromVectorThread) => {
      const resolve = this.#pending.get(reply.id);
      this.#pending.delete(reply.id);
      resolve?.(reply);
    });
    worker.on("error", this.#options.onError);
    worker.on("exit", () => {
      if (this.#worker === worker) this.#threadEnded();
    });
    return worker;
  }

  /** The next use starts another thread, without vectors. */
  #threadEnded(): void {
    this.#worker = undefined;
    this.#held.clear();
    for (const resolve of this.#pending.values()) resolve(undefined);
    this.#pending.clear();
  }
}
