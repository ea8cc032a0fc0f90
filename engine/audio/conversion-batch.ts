import { type ConversionFormats, SpeechConversion } from "./speech-conversion.js";

/** The next bytes of one sentence; the first step of a sentence contains its formats. */
export interface ConversionStep {
  readonly id: number;
  readonly opens: ConversionFormats | undefined;
  /** Empty in the last step. */
  readonly bytes: Uint8Array;
  readonly isLast: boolean;
}

/** The input of one thread at a time: steps of any number of sentences, and cancelled ones. */
export interface ConversionBatch {
  readonly steps: readonly ConversionStep[];
  readonly dropped: readonly number[];
}

/** Several queues may share one thread. */
export interface QueuedBatch extends ConversionBatch {
  readonly queueId: number;
}

/** In the order of the steps; the text is the reason why a sentence cannot be converted. */
export type ConversionResult = Uint8Array | { readonly error: string };

/** The sentences of a queue that a thread has begun and not finished. */
export class OpenConversions {
  readonly #byId = new Map<number, SpeechConversion>();

  async convert({ steps, dropped }: ConversionBatch): Promise<readonly ConversionResult[]> {
    for (const id of dropped) this.#close(id);
    const results: ConversionResult[] = [];
    for (const step of steps) results.push(await this.#take(step));
    return results;
  }

  closeAll(): void {
    for (const id of this.#byId.keys()) this.#close(id);
  }

  async #take(step: ConversionStep): Promise<ConversionResult> {
    try {
      return await this.#converted(step);
    } catch (error) {
      this.#close(step.id);
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }

  async #converted({ id, opens, bytes, isLast }: ConversionStep): Promise<Uint8Array> {
    if (opens !== undefined) this.#byId.set(id, await SpeechConversion.open(opens));
    const conversion = this.#byId.get(id);
    // The thread that started it has been replaced.
    if (conversion === undefined) throw new Error("the sentence was lost with its thread");
    if (!isLast) return conversion.write(bytes);
    const rest = conversion.end();
    this.#close(id);
    return rest;
  }

  #close(id: number): void {
    this.#byId.get(id)?.close();
    this.#byId.delete(id);
  }
}
