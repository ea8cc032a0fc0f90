import { get, type IncomingHttpHeaders, type IncomingMessage } from "node:http";

export interface ReceivedEvent {
  readonly name: string;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Listens to GET /streams/events as a browser does. */
export class EventListener {
  readonly headers: IncomingHttpHeaders;
  readonly status: number;
  /** Resolves when the connection is gone or the answer has ended, whichever way. */
  readonly closed: Promise<void>;
  readonly #response: IncomingMessage;
  readonly #events: ReceivedEvent[] = [];
  /** The parts of an event whose end has not come. */
  #parts: string[] = [];
  #heartbeatCount = 0;
  #isOver = false;
  #onEvent: () => void = () => undefined;

  static async open(port: number): Promise<EventListener> {
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { host: "127.0.0.1", port, path: "/streams/events", agent: false };
      get(options, resolve).on("error", reject);
    });
    return new EventListener(response);
  }

  private constructor(response: IncomingMessage) {
    this.#response = response;
    this.headers = response.headers;
    this.status = response.statusCode ?? 0;
    response.setEncoding("utf8");
    response.on("data", (part: string) => this.#take(part));
    // A connection that breaks shows in `closed`.
    response.on("error", () => undefined);
    this.closed = new Promise((resolve) => {
      response.on("close", () => {
        this.#isOver = true;
        this.#onEvent();
        resolve();
      });
    });
  }

  /** The next event that no test has taken yet; waits for it. Rejects if there will be none. */
  async next(): Promise<ReceivedEvent> {
    for (;;) {
      const event = this.#events.shift();
      if (event !== undefined) return event;
      if (this.#isOver) throw new Error("the events have ended");
      await this.#news();
    }
  }

  async heartbeat(): Promise<void> {
    while (this.#heartbeatCount === 0) await this.#news();
    this.#heartbeatCount -= 1;
  }

  close(): void {
    this.#response.destroy();
  }

  #news(): Promise<void> {
    return new Promise((resolve) => {
      this.#onEvent = resolve;
    });
  }

  #take(part: string): void {
    this.#parts.push(part);
    // An end may stand across two parts.
    if (!this.#parts.slice(-2).join("").includes("\n\n")) return;
    const blocks = this.#parts.join("").split("\n\n");
    this.#parts = [blocks.pop() ?? ""];
    for (const block of blocks) this.#takeBlock(block);
    this.#onEvent();
  }

  #takeBlock(block: string): void {
    if (block === ":") this.#heartbeatCount += 1;
    const name = /^event: (.*)$/m.exec(block)?.[1];
    const data = /^data: (.*)$/m.exec(block)?.[1];
    if (name !== undefined && data !== undefined) {
      this.#events.push({ name, data: JSON.parse(data) });
    }
  }
}
