import * as v from "valibot";
import { WebSocket } from "ws";

const Answer = v.object({
  id: v.optional(v.number()),
  result: v.optional(v.unknown()),
  error: v.optional(v.object({ message: v.string() })),
});
const HeapUsage = v.object({ usedSize: v.number() });
const MemoryUsage = v.object({ heapUsed: v.number(), external: v.number() });
const Evaluated = v.object({
  result: v.object({ value: v.pipe(v.string(), v.parseJson(), MemoryUsage) }),
});
const Profile = v.object({
  profile: v.object({
    nodes: v.array(
      v.object({
        id: v.number(),
        callFrame: v.object({
          functionName: v.string(),
          url: v.string(),
          lineNumber: v.number(),
        }),
      }),
    ),
    samples: v.array(v.number()),
    timeDeltas: v.array(v.number()),
  }),
});

const SAMPLING_INTERVAL_US = 200;
/** Weak references and finalizers take more than one collection to let go of what hangs on them. */
const COLLECTIONS = 3;

/** Where CPU time went: the function's own time as a share of all time in which the process was not idle. */
export interface HotFunction {
  readonly name: string;
  readonly place: string;
  readonly share: number;
}

/** Looks into a Node process that was started with `--inspect`, from outside and without its help. */
export class Inspector {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, (answer: v.InferOutput<typeof Answer>) => void>();
  #lastId = 0;

  static async attach(url: string): Promise<Inspector> {
    const socket = new WebSocket(url, { perMessageDeflate: false });
    await new Promise<void>((resolve, reject) => {
      socket.once("open", resolve);
      socket.once("error", reject);
    });
    return new Inspector(socket);
  }

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data: Buffer) => {
      const answer = v.parse(Answer, JSON.parse(data.toString("utf8")));
      if (answer.id === undefined) return;
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
  }

  /** The heap that is still in use after everything that can go has gone. */
  async liveHeapBytes(): Promise<number> {
    for (let n = 0; n < COLLECTIONS; n += 1) await this.#ask("HeapProfiler.collectGarbage");
    return v.parse(HeapUsage, await this.#ask("Runtime.getHeapUsage")).usedSize;
  }

  /** The main thread's live heap and the buffers that it holds, after a full collection. */
  async liveBytes(): Promise<number> {
    await this.liveHeapBytes();
    const expression = "JSON.stringify(process.memoryUsage())";
    const { result } = v.parse(Evaluated, await this.#ask("Runtime.evaluate", { expression }));
    return result.value.heapUsed + result.value.external;
  }

  async startProfile(): Promise<void> {
    await this.#ask("Profiler.enable");
    await this.#ask("Profiler.setSamplingInterval", { interval: SAMPLING_INTERVAL_US });
    await this.#ask("Profiler.start");
  }

  async hottest(count: number): Promise<readonly HotFunction[]> {
    const { profile } = v.parse(Profile, await this.#ask("Profiler.stop"));
    const usById = new Map<number, number>();
    for (const [index, id] of profile.samples.entries()) {
      usById.set(id, (usById.get(id) ?? 0) + (profile.timeDeltas[index] ?? 0));
    }
    const usByPlace = new Map<string, { name: string; place: string; us: number }>();
    let busyUs = 0;
    for (const { id, callFrame } of profile.nodes) {
      const { functionName, url, lineNumber } = callFrame;
      const us = usById.get(id) ?? 0;
      if (functionName === "(idle)") continue;
      busyUs += us;
      const place = url === "" ? "" : `${url.split("/").slice(-3).join("/")}:${lineNumber + 1}`;
      const key = `${functionName} ${place}`;
      const known = usByPlace.get(key);
      if (known === undefined)
        usByPlace.set(key, { name: functionName || "(anonymous)", place, us });
      else known.us += us;
    }
    return [...usByPlace.values()]
      .sort((one, other) => other.us - one.us)
      .slice(0, count)
      .map(({ name, place, us }) => ({ name, place, share: us / busyUs }));
  }

  close(): void {
    this.#socket.terminate();
  }

  #ask(method: string, params: object = {}): Promise<unknown> {
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ result, error }) => {
        if (error === undefined) resolve(result);
        else reject(new Error(`${method}: ${error.message}`));
      });
      this.#socket.send(JSON.stringify({ id, method, params }));
    });
  }
}
