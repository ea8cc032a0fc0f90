/** More than any agent has sentences in the air; of marks that never return, the oldest are forgotten. */
const MARKS_PENDING_MAX = 256;
/** Asterisk takes no command of more than 128 bytes, so a name has to be short. */
const NAME_FORMAT = /^[\w.:-]{1,64}$/;

/** The marks that a vendor has not told yet, and whether a `clear` went out after them. */
export class PendingMarks {
  readonly #epochs = new Map<string, number>();
  #epoch = 0;

  /** Throws a RangeError for a name that not every vendor would take. */
  add(name: string): void {
    if (!NAME_FORMAT.test(name))
      throw new RangeError("a mark is named by 1 to 64 letters, digits or _.:-");
    this.#epochs.delete(name);
    this.#epochs.set(name, this.#epoch);
    if (this.#epochs.size <= MARKS_PENDING_MAX) return;
    for (const oldest of this.#epochs.keys()) {
      this.#epochs.delete(oldest);
      break;
    }
  }

  clear(): void {
    this.#epoch += 1;
  }

  /** Whether the audio before it was heard; undefined for a mark that is not awaited. */
  reached(name: string): boolean | undefined {
    const epoch = this.#epochs.get(name);
    if (epoch === undefined) return undefined;
    this.#epochs.delete(name);
    return epoch === this.#epoch;
  }
}
