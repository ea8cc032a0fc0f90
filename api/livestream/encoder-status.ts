import type { CancelTimer, Clock } from "../../engine/time/clock.js";

const EXPIRY_PERIOD_MS = 1_000;
/** More ladders than one machine can run. */
export const LADDERS_MAX = 1_000;
/** The maximum number that /health names. */
const NAMED_MAX = 100;

export const LADDER_STATES = [
  "starting",
  "running",
  "reduced",
  "slow",
  "failing",
  "unreadable",
  "unrecorded",
  "refused",
  "ended",
] as const;
type LadderState = (typeof LADDER_STATES)[number];

/** The state of one broadcast's transcoding, as its transcoder reports it. */
export interface LadderStatus {
  readonly streamKey: string;
  readonly session: string | undefined;
  readonly state: LadderState;
  /** As a share of real time; undefined while unknown. */
  readonly speed: number | undefined;
  readonly rungs: readonly string[];
  readonly restarts: number;
  readonly reason: string | undefined;
  readonly ttlMs: number;
}

const WELL: ReadonlySet<LadderState> = new Set(["starting", "running"]);

/**
 * The transcoder's reports about its ladders, for the operator: /health and /metrics. Ladders without reports are
 * dropped.
 */
export class EncoderStatus {
  readonly #clock: Clock;
  readonly #byKey = new Map<string, { readonly status: LadderStatus; readonly endsMs: number }>();
  readonly #stopExpiring: CancelTimer;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#stopExpiring = clock.every(EXPIRY_PERIOD_MS, () => this.#expire());
  }

  /** False if there is no room for another. */
  note(status: LadderStatus): boolean {
    const { streamKey, session, state, ttlMs } = status;
    const known = this.#byKey.get(streamKey);
    if (state === "ended") {
      // A report about an earlier broadcast is too late.
      if (known?.status.session === session) this.#byKey.delete(streamKey);
      return true;
    }
    if (known === undefined && this.#byKey.size >= LADDERS_MAX) return false;
    this.#byKey.set(streamKey, { status, endsMs: this.#clock.monotonicMs() + ttlMs });
    return true;
  }

  get all(): readonly LadderStatus[] {
    return Array.from(this.#byKey.values(), ({ status }) => status);
  }

  /** The ladders with problems, by name. */
  get unwell(): readonly LadderStatus[] {
    return this.all
      .filter(({ state }) => !WELL.has(state))
      .sort((one, other) => (one.streamKey < other.streamKey ? -1 : 1))
      .slice(0, NAMED_MAX);
  }

  close(): void {
    this.#stopExpiring();
  }

  #expire(): void {
    const nowMs = this.#clock.monotonicMs();
    for (const [streamKey, { endsMs }] of this.#byKey) {
      if (endsMs <= nowMs) this.#byKey.delete(streamKey);
    }
  }
}
