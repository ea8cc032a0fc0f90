import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { AudioPool } from "../engine/audio/audio-pool.js";
import { decodeMulaw } from "../engine/audio/mulaw.js";
import { newUpsamplerHistory, upsample } from "../engine/audio/upsampler.js";
import { SystemClock } from "../engine/time/clock.js";
import { median, quantile } from "./quantile.js";
import { textbookUpsampler } from "./textbook-filter.js";

const FRAME_BYTES = 160;
const FRAME_PCM_BYTES = 640;
/** 200 calls of 50 frames a second. */
const CALLS = 200;
const FRAMES_PER_MS = 10;
const ROUND_MS = 1_000;
const WARM_UP_MS = 400;
const ROUNDS = 3;
/** Only some are timed, so that the clock is not what is measured. */
const TIMED_EVERY = 10;

export interface AudioBatchResult {
  /** µs of the session thread for one frame of 20 ms, without what the load itself costs; medians of the rounds. */
  readonly poolMicroseconds: number;
  /** Our own filter on the session thread. */
  readonly inlineMicroseconds: number;
  /** A filter with as many taps, written as in a textbook, on the session thread: much slower than it could be. */
  readonly textbookMicroseconds: number;
  readonly framesPerBatch: number;
  /** The time from `push` to `onPcm`, over all rounds. */
  readonly latencyP50Ms: number;
  readonly latencyP99Ms: number;
  readonly droppedMs: number;
}

const WAYS = ["idle", "pool", "inline", "textbook"] as const;
type Way = (typeof WAYS)[number];
type Push = (call: number, frame: Uint8Array) => void;

/** The cost of a caller's frame on the session thread at 10,000 a second: through the pool, and inline, in the same run. */
export async function measureAudioBatches(): Promise<AudioBatchResult> {
  const latencies: number[] = [];
  const pool = new PoolUnderLoad(latencies);
  const idle: Push = () => undefined;
  const ways: Record<Way, Push> = {
    idle,
    pool: pool.push,
    inline: inlineFilter(),
    textbook: textbookFilter(),
  };
  await pool.started();
  for (const push of Object.values(ways)) await load(push, WARM_UP_MS);
  latencies.length = 0;
  const rounds: Record<Way, number[]> = { idle: [], pool: [], inline: [], textbook: [] };
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const way of WAYS) rounds[way].push(await load(ways[way], ROUND_MS));
  }
  const { framesPerBatch, droppedMs } = await pool.close();
  const overIdle = (costs: readonly number[]) => median(costs) - median(rounds.idle);
  return {
    poolMicroseconds: overIdle(rounds.pool),
    inlineMicroseconds: overIdle(rounds.inline),
    textbookMicroseconds: overIdle(rounds.textbook),
    framesPerBatch,
    latencyP50Ms: quantile(latencies, 0.5),
    latencyP99Ms: quantile(latencies, 0.99),
    droppedMs,
  };
}

class PoolUnderLoad {
  readonly #pool: AudioPool;
  readonly #streams;
  #frames = 0;

  constructor(latencies: number[]) {
    this.#pool = new AudioPool({
      clock: new SystemClock(),
      onFault: (fault) => {
        throw new Error("the pool failed under load", { cause: fault });
      },
    });
    this.#streams = Array.from({ length: CALLS }, (_, call) => {
      const sentAtMs: number[] = [];
      const isTimed = call % TIMED_EVERY === 0;
      const time = (pcm: Uint8Array) => {
        const nowMs = performance.now();
        for (let bytes = pcm.length; bytes > 0; bytes -= FRAME_PCM_BYTES) {
          latencies.push(nowMs - (sentAtMs.shift() ?? nowMs));
        }
      };
      const onPcm = isTimed ? time : () => undefined;
      const stream = this.#pool.inbound({ encoding: "mulaw", onPcm });
      return { stream, sentAtMs: isTimed ? sentAtMs : undefined };
    });
  }

  readonly push: Push = (call, frame) => {
    const found = this.#streams[call];
    found?.sentAtMs?.push(performance.now());
    found?.stream.push(frame);
    this.#frames += 1;
  };

  /** Waits for the threads to start. */
  async started(): Promise<void> {
    await new Promise<void>((resolve) => {
      const stream = this.#pool.inbound({
        encoding: "mulaw",
        onPcm: () => {
          stream.close();
          resolve();
        },
      });
      stream.push(new Uint8Array(FRAME_BYTES));
    });
  }

  async close(): Promise<{ framesPerBatch: number; droppedMs: number }> {
    const { inboundBatches, inboundDroppedMs } = this.#pool.stats;
    await this.#pool.close();
    return { framesPerBatch: this.#frames / inboundBatches, droppedMs: inboundDroppedMs };
  }
}

function inlineFilter(): Push {
  const histories = Array.from({ length: CALLS }, newUpsamplerHistory);
  return (call, frame) => {
    const history = histories[call];
    if (history !== undefined) upsample(decodeMulaw(frame), history);
  };
}

function textbookFilter(): Push {
  const filters = Array.from({ length: CALLS }, textbookUpsampler);
  return (call, frame) => {
    filters[call]?.(decodeMulaw(frame));
  };
}

/** Frames of all calls in turn, as sockets bring them: a few in each turn of the event loop. Gives µs of this thread a frame. */
async function load(push: Push, durationMs: number): Promise<number> {
  const frame = Uint8Array.from({ length: FRAME_BYTES }, (_, at) => (at * 37) & 0xff);
  const startMs = performance.now();
  const startNs = threadNanoseconds();
  let sent = 0;
  for (let nowMs = startMs; nowMs < startMs + durationMs; nowMs = performance.now()) {
    const due = Math.floor((nowMs - startMs) * FRAMES_PER_MS);
    for (; sent < due; sent += 1) push(sent % CALLS, frame);
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return (threadNanoseconds() - startNs) / 1_000 / sent;
}

/** CPU time of this thread alone, from the kernel's scheduler; Linux only. */
function threadNanoseconds(): number {
  return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[0]);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  console.log(await measureAudioBatches());
}
