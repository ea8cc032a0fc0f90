import type { TurnReport } from "../../engine/conversation/effects.js";
import type { CancelTimer, Clock } from "../../engine/time/clock.js";
import type { Loudspeaker } from "./loudspeaker.js";
import { SentenceHoles } from "./sentence-holes.js";

const REPORT_MS = 200;

/** One sentence of the turn that is played, as far as it has come. */
interface Segment {
  readonly index: number;
  comeMs: number;
}

export interface BrowserManner {
  /** So much later than it came it plays what it is sent. */
  readonly bufferMs: number;
  /** Where it tells now and then how much of the turn it has played, since that began or last went on. */
  readonly onPlayed: ((turnId: number, playedMs: number) => void) | undefined;
}

/** Plays one piece after another, and at once what comes when it has played all there was. */
export class SimulatedBrowser implements Loudspeaker {
  readonly holes = new SentenceHoles();
  readonly #clock: Clock;
  readonly #manner: BrowserManner;
  readonly #heardMs = new Map<string, number>();
  #turnId = 0;
  #segments: Segment[] = [];
  #sentMs = 0;
  #beganAtMs = 0;
  /** What had been played when the rest was dropped. */
  #droppedAfterMs = 0;
  #isBeginning = true;
  /** More of the sentence that was sent last is to come. */
  #isOpen = false;
  #isForgiven = false;
  #cancel: CancelTimer | undefined;

  constructor(clock: Clock, manner: BrowserManner) {
    this.#clock = clock;
    this.#manner = manner;
  }

  play(turnId: number, index: number, comeMs: number, isWhole: boolean): void {
    this.#noticeHole();
    if (turnId !== this.#turnId) this.#begin(turnId);
    this.#segments.push({ index, comeMs });
    this.#add(comeMs);
    this.#isOpen = !isWhole;
  }

  grow(turnId: number, index: number, comeMs: number, isWhole: boolean): void {
    const last = this.#segments.at(-1);
    if (turnId !== this.#turnId || index !== last?.index || !this.#isOpen) return;
    this.#noticeHole();
    if (comeMs > last.comeMs) this.#add(comeMs - last.comeMs);
    last.comeMs = comeMs;
    this.#isOpen = !isWhole;
  }

  cut(turnId: number, index: number): void {
    if (turnId !== this.#turnId || index !== this.#segments.at(-1)?.index) return;
    this.#noticeHole();
    this.holes.cut(this.#clock.monotonicMs());
    this.#isOpen = false;
  }

  forgetHole(): void {
    this.#noticeHole();
    this.#isForgiven = this.#isOpen && this.#leftMs() <= 0;
    this.holes.forget();
  }

  endTurn(report: TurnReport): void {
    this.#noticeHole();
    this.holes.endTurn(report, this.#clock.monotonicMs());
  }

  /** Drops what it has not played. */
  clear(): void {
    this.holes.forget();
    this.#noteHeard();
    let leftMs = this.#playedMs();
    for (const segment of this.#segments) {
      segment.comeMs = Math.min(segment.comeMs, leftMs);
      leftMs -= segment.comeMs;
    }
    this.#sentMs = this.#playedMs();
    this.#droppedAfterMs = this.#sentMs;
    this.#isBeginning = true;
    this.#isOpen = false;
    this.#cancel?.();
    this.#cancel = undefined;
  }

  /** It cannot stand still. */
  hold(): void {}
  resume(): void {}

  heardMs(turnId: number, index: number): number {
    this.#noteHeard();
    return this.#heardMs.get(`${turnId}.${index}`) ?? 0;
  }

  #begin(turnId: number): void {
    this.#noteHeard();
    this.#turnId = turnId;
    this.#segments = [];
    this.#sentMs = 0;
    this.#droppedAfterMs = 0;
    this.#isBeginning = true;
  }

  #add(durationMs: number): void {
    const nowMs = this.#clock.monotonicMs();
    const soundsAtMs = this.#isBeginning ? nowMs + this.#manner.bufferMs : nowMs;
    const beganAtMs = soundsAtMs - this.#sentMs;
    this.#beganAtMs = this.#isBeginning ? beganAtMs : Math.max(this.#beganAtMs, beganAtMs);
    this.#isBeginning = false;
    this.#isForgiven = false;
    this.holes.end(this.#turnId, soundsAtMs);
    this.#sentMs += durationMs;
    if (this.#manner.onPlayed === undefined) return;
    this.#cancel ??= this.#clock.after(REPORT_MS, () => this.#tell());
  }

  #playedMs(): number {
    if (this.#isBeginning) return this.#sentMs;
    const sinceMs = this.#clock.monotonicMs() - this.#beganAtMs;
    return Math.min(this.#sentMs, Math.max(this.#droppedAfterMs, sinceMs));
  }

  #leftMs(): number {
    return this.#beganAtMs + this.#sentMs - this.#clock.monotonicMs();
  }

  #noticeHole(): void {
    if (!this.#isOpen || this.#isBeginning || this.#isForgiven || this.#leftMs() >= 0) return;
    this.holes.begin(this.#turnId, this.#beganAtMs + this.#sentMs);
  }

  #noteHeard(): void {
    let leftMs = this.#playedMs();
    for (const { index, comeMs } of this.#segments) {
      this.#heardMs.set(`${this.#turnId}.${index}`, Math.min(comeMs, leftMs));
      leftMs = Math.max(0, leftMs - comeMs);
    }
  }

  #tell(): void {
    this.#cancel = undefined;
    const playedMs = this.#playedMs();
    if (playedMs < this.#sentMs) this.#cancel = this.#clock.after(REPORT_MS, () => this.#tell());
    this.#manner.onPlayed?.(this.#turnId, playedMs - this.#droppedAfterMs);
  }
}
