import { Worker } from "node:worker_threads";
import type { DocumentContent, NewPassage } from "../../storage/knowledge/knowledge-store.js";
import { RequestError } from "../request-error.js";
import type { Clock } from "../time/clock.js";
import type { DocumentFormat } from "./document-text.js";

const THREAD = new URL("./document-reader-thread.js", import.meta.url);

/** Larger documents are refused. */
export const DOCUMENT_BYTES_MAX = 10 * 1024 * 1024;
/** A normal document takes a second or two. */
export const READING_MAX_MS = 15_000;
/** Limits the JavaScript heap. Memory outside of it is measured by the size of the process. */
const HEAP_MAX_MB = 256;
const GROWTH_MAX_BYTES = 768 * 1024 * 1024;
const GROWTH_CHECK_MS = 50;
/** Documents that may wait while one is read; further ones are refused. */
export const READINGS_WAITING_MAX = 8;
/** One organization may have this many documents waiting, so others can still have theirs read. */
export const READINGS_WAITING_PER_ORGANIZATION_MAX = 3;
const RETRY_AFTER_SEC = 5;

export interface DocumentToRead {
  readonly orgId: string;
  readonly name: string;
  readonly format: DocumentFormat;
  readonly bytes: Uint8Array;
  /** As the document's server names it. */
  readonly charset?: string | undefined;
}

/** Why a document cannot be used: a sentence that starts with its name. */
export interface ReadingFault {
  readonly error: string;
}

type Message =
  | { readonly kind: "passages"; readonly passages: readonly NewPassage[] }
  | { readonly kind: "unreadable"; readonly reason: string }
  | { readonly kind: "done"; readonly characters: number; readonly text: string | null };

export interface DocumentReaderOptions {
  readonly clock: Clock;
  /** The script of the thread; tests replace it with one that never ends. */
  readonly thread?: URL;
}

/** Reads one document at a time, each in its own thread with limits of time and memory. */
export class DocumentReader {
  readonly #clock: Clock;
  readonly #thread: URL;
  readonly #waiting: { readonly orgId: string; readonly begin: () => void }[] = [];
  #isReading = false;

  constructor({ clock, thread = THREAD }: DocumentReaderOptions) {
    this.#clock = clock;
    this.#thread = thread;
  }

  /** RequestError `overloaded`: too many documents wait, of all organizations or of this one. */
  async read(document: DocumentToRead): Promise<DocumentContent | ReadingFault> {
    const { orgId, name, bytes } = document;
    if (bytes.length > DOCUMENT_BYTES_MAX) {
      return faultOf(name, `has more than ${DOCUMENT_BYTES_MAX / 1024 / 1024} MB`);
    }
    await this.#takeTurn(orgId);
    try {
      return await this.#read(document);
    } finally {
      this.#passTurn(orgId);
    }
  }

  /** To the document that waits longest, of another organization where one waits. */
  #passTurn(orgId: string): void {
    const ofOther = this.#waiting.findIndex((each) => each.orgId !== orgId);
    const [next] = this.#waiting.splice(Math.max(0, ofOther), 1);
    if (next === undefined) this.#isReading = false;
    else next.begin();
  }

  async #takeTurn(orgId: string): Promise<void> {
    if (this.#isReading) {
      const own = this.#waiting.filter((each) => each.orgId === orgId).length;
      const isFull = this.#waiting.length >= READINGS_WAITING_MAX;
      if (isFull || own >= READINGS_WAITING_PER_ORGANIZATION_MAX) {
        throw new RequestError("overloaded", "too many documents are being read", {
          retryAfterSec: RETRY_AFTER_SEC,
        });
      }
      await new Promise<void>((resolve) => {
        this.#waiting.push({ orgId, begin: resolve });
      });
      return;
    }
    this.#isReading = true;
  }

  #read({ bytes, ...document }: DocumentToRead): Promise<DocumentContent | ReadingFault> {
    const { name } = document;
    const sizeBytes = bytes.length;
    // A copy, since its buffer is transferred to the thread.
    const moved = new Uint8Array(bytes);
    return new Promise((resolve) => {
      const worker = new Worker(this.#thread, {
        workerData: { ...document, bytes: moved },
        transferList: [moved.buffer],
        resourceLimits: { maxOldGenerationSizeMb: HEAP_MAX_MB, stackSizeMb: 4 },
      });
      const passages: NewPassage[] = [];
      const sizeBefore = process.memoryUsage.rss();
      const end = (result: DocumentContent | ReadingFault) => {
        cancelTime();
        cancelGrowth();
        void worker.terminate();
        resolve(result);
      };
      const cancelTime = this.#clock.after(READING_MAX_MS, () =>
        end(faultOf(name, `takes longer than ${READING_MAX_MS / 1_000} s to read`)),
      );
      const cancelGrowth = this.#clock.every(GROWTH_CHECK_MS, () => {
        if (process.memoryUsage.rss() - sizeBefore < GROWTH_MAX_BYTES) return;
        end(faultOf(name, "takes too much memory to read"));
      });
      worker.on("message", (message: Message) => {
        if (message.kind === "passages") passages.push(...message.passages);
        else if (message.kind === "unreadable") end(faultOf(name, message.reason));
        else end({ sizeBytes, characters: message.characters, text: message.text, passages });
      });
      worker.on("error", (error: Error & { readonly code?: unknown }) => {
        const isMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
        end(faultOf(name, isMemory ? "takes too much memory to read" : "cannot be read"));
      });
      worker.on("exit", () => end(faultOf(name, "cannot be read")));
    });
  }
}

function faultOf(name: string, reason: string): ReadingFault {
  return { error: `"${name}" ${reason}` };
}
