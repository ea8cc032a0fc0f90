import { once } from "node:events";
import { connect, type Socket } from "node:net";

export interface DashboardsResult {
  /** Events that came, of all dashboards together. */
  readonly events: number;
  /** Streams that ended and were asked for again. */
  readonly reopened: number;
}

interface Watched {
  /** The server's URL, without a path. */
  readonly url: string;
  readonly token: string;
}

const EVENT = Buffer.from("\nevent: ");

/** Pages of the console that show calls in progress: each holds a stream of events, and asks again when it ends. */
export class LiveDashboards {
  readonly #watched: Watched;
  readonly #sockets = new Set<Socket>();
  #events = 0;
  #reopened = 0;
  #isStopped = false;

  /** Resolves when every stream has begun. */
  static async open(watched: Watched, count: number): Promise<LiveDashboards> {
    const dashboards = new LiveDashboards(watched);
    await Promise.all(Array.from({ length: count }, () => dashboards.#watch()));
    return dashboards;
  }

  private constructor(watched: Watched) {
    this.#watched = watched;
  }

  close(): DashboardsResult {
    this.#isStopped = true;
    for (const socket of this.#sockets) socket.destroy();
    return { events: this.#events, reopened: this.#reopened };
  }

  async #watch(): Promise<void> {
    const { hostname, port } = new URL(this.#watched.url);
    const socket = connect(Number(port), hostname);
    this.#sockets.add(socket);
    await once(socket, "connect");
    const head = `host: ${hostname}\r\nauthorization: Bearer ${this.#watched.token}\r\nconnection: close`;
    socket.write(`GET /api/dashboard/calls/events HTTP/1.1\r\n${head}\r\n\r\n`);
    const [first]: Buffer[] = await once(socket, "data");
    const answer = first?.toString("latin1") ?? "nothing";
    if (!answer.startsWith("HTTP/1.1 200")) throw new Error(`answered ${answer}`);
    socket.on("data", (bytes: Buffer) => {
      this.#events += countOf(EVENT, bytes);
    });
    socket.on("error", (error) => {
      if (!this.#isStopped) throw error;
    });
    socket.on("close", () => {
      this.#sockets.delete(socket);
      if (this.#isStopped) return;
      this.#reopened += 1;
      void this.#watch();
    });
  }
}

function countOf(what: Buffer, bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(what); at !== -1; at = bytes.indexOf(what, at + 1)) count += 1;
  return count;
}
