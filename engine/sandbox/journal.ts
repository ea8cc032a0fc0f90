import type { SandboxVendor } from "./faults.js";

export type JournalKind =
  | "request"
  | "firstByte"
  /** An LLM is about to send the token that ends its first sentence. */
  | "firstSentence"
  | "lastByte"
  | "aborted"
  | "fault"
  | "opened"
  | "event"
  | "lastSpeech"
  | "closed";

export interface JournalEntry {
  readonly vendor: SandboxVendor;
  /** `aborted`: the client disconnected, or a fault disconnected it, before the whole response was sent. */
  readonly kind: JournalKind;
  /** Nanoseconds of the machine's monotonic clock (process.hrtime.bigint) as decimals: the same clock in every process. */
  readonly atNs: string;
  /** Entries of one request, or of one Deepgram stream, have the same number. */
  readonly request: number;
  /**
   * The content of the request: the caller's words, the text to speak, the type and transcript of an event; for
   * the last byte of TTS its pace.
   */
  readonly text?: string;
}

/** The journal of a few minutes of several hundred calls; older entries are dropped. */
const ENTRIES_MAX = 200_000;

/** The actions of the simulated vendors with their times, so that a benchmark can subtract their delays. */
export class Journal {
  readonly #isOn: boolean;
  readonly #onEntry: () => void;
  #entries: JournalEntry[] = [];
  #requests = 0;

  constructor(isOn: boolean, onEntry: () => void = () => undefined) {
    this.#isOn = isOn;
    this.#onEntry = onEntry;
  }

  get entries(): readonly JournalEntry[] {
    return this.#entries;
  }

  nextRequest(): number {
    this.#requests += 1;
    return this.#requests;
  }

  record(
    vendor: SandboxVendor,
    kind: JournalKind,
    request: number,
    text?: string,
    atNs: bigint = process.hrtime.bigint(),
  ): void {
    if (!this.#isOn) return;
    const entry = { vendor, kind, atNs: atNs.toString(), request };
    this.#entries.push(text === undefined ? entry : { ...entry, text });
    if (this.#entries.length > ENTRIES_MAX) this.#entries = this.#entries.slice(ENTRIES_MAX / 10);
    this.#onEntry();
  }

  clear(): void {
    this.#entries = [];
  }
}
