import { type CancelTimer, SystemClock } from "../../engine/time/clock.js";

/** Longer than any wait within a turn: from here on it is a deadline. */
const DEADLINE_MIN_MS = 4_000;
const PATIENCE = 10;

/** The system's, with deadlines that strike only what hangs, not what is slow because the machine has other work. */
export class PatientClock extends SystemClock {
  readonly #deadlineMinMs: number;

  constructor(deadlineMinMs = DEADLINE_MIN_MS) {
    super();
    this.#deadlineMinMs = deadlineMinMs;
  }

  override after(delayMs: number, action: () => void): CancelTimer {
    return super.after(delayMs < this.#deadlineMinMs ? delayMs : delayMs * PATIENCE, action);
  }
}
