/** ffmpeg tells how far it is twice a second. */
const SILENT_MS = 1_600;
/** What is looked at of the past. */
const WINDOW_MS = 5_000;
/** Less of it says nothing yet. */
const SPAN_MIN_MS = 3_000;

interface Sample {
  readonly atMs: number;
  readonly madeMs: number;
}

/** How fast one ffmpeg makes its video, as a part of real time. */
export class SpeedWatch {
  readonly #speedMin: number;
  #samples: Sample[] = [];

  /** What is made slower than `speedMin`, a part of real time, is slow. */
  constructor(speedMin: number) {
    this.#speedMin = speedMin;
  }

  /** `madeMs`: how much video ffmpeg has made since it was started; `atMs` on the monotonic clock. */
  note(madeMs: number, atMs: number): void {
    this.#samples = this.#samples.filter((sample) => atMs - sample.atMs <= WINDOW_MS);
    this.#samples.push({ atMs, madeMs });
  }

  /** Undefined until it has been watched for some seconds. A ffmpeg that says nothing gets slower with time. */
  speed(nowMs: number): number | undefined {
    const [first] = this.#samples;
    const last = this.#samples.at(-1);
    if (first === undefined || last === undefined) return undefined;
    const spanMs = Math.max(last.atMs, nowMs - 1_000) - first.atMs;
    return spanMs < SPAN_MIN_MS ? undefined : (last.madeMs - first.madeMs) / spanMs;
  }

  /** Works, and not fast enough. One that says nothing at all hangs, and fewer rungs would not help it. */
  isSlow(nowMs: number): boolean {
    const speed = this.speed(nowMs);
    const saidMs = this.#samples.at(-1)?.atMs ?? Number.NEGATIVE_INFINITY;
    return speed !== undefined && speed < this.#speedMin && nowMs - saidMs < SILENT_MS;
  }
}
