import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import * as v from "valibot";
import type { SeededRandom } from "../../test/simulation/seeded-random.js";

/** What an endpoint does with an event that it gets for the first time; what comes again it acknowledges. */
export const CONDUCTS = [
  "good",
  "slow",
  "fails",
  "hangs",
  "liesAboutLength",
  "resets",
  "answersByteByByte",
] as const;
export type Conduct = (typeof CONDUCTS)[number];

const SLOW_MS = 20;
const BYTE_MS = 1;
const MISCONDUCT_SHARE = 0.1;
/** Each takes the server's whole time limit. */
const HANGS_MAX = 8;
const LIE = "HTTP/1.1 200 OK\r\ncontent-length: 1000000000\r\n\r\nshort";
const ANSWER = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok";

const Posted = v.pipe(
  v.string(),
  v.parseJson(),
  v.object({
    type: v.string(),
    data: v.object({
      callId: v.string(),
      sequence: v.number(),
      agentId: v.nullish(v.string()),
      from: v.nullish(v.string()),
      isRefused: v.optional(v.boolean()),
    }),
  }),
);

/** An event as an endpoint has acknowledged it for the first time. */
export interface Acknowledged {
  readonly endpoint: Conduct;
  readonly id: string;
  readonly type: string;
  readonly callId: string;
  readonly sequence: number;
  readonly isRefused: boolean;
  readonly agentId: string | undefined;
  readonly from: string | undefined;
}

/** Endpoints of one organization on one port, each with a conduct of its own. */
export class WebhookReceivers {
  /** In the order in which each endpoint has acknowledged them. */
  readonly acknowledged: Acknowledged[] = [];
  /** Ids that came with two bodies. */
  readonly changed: string[] = [];
  readonly requests = new Map<Conduct, number>();
  readonly #random: SeededRandom;
  readonly #server: Server;
  /** The body that each endpoint got first, by endpoint and id. */
  readonly #bodies = new Map<string, string>();
  readonly #acknowledgedIds = new Set<string>();
  #hangs = 0;

  static async open(random: SeededRandom): Promise<WebhookReceivers> {
    const receivers = new WebhookReceivers(random);
    await new Promise<void>((resolve) => {
      receivers.#server.listen(0, "127.0.0.1", resolve);
    });
    return receivers;
  }

  private constructor(random: SeededRandom) {
    this.#random = random;
    this.#server = createServer((request, response) => {
      void (async () => {
        let body = "";
        for await (const chunk of request) body += String(chunk);
        const conduct = v.parse(v.picklist(CONDUCTS), request.url?.slice(1));
        await this.#take(conduct, String(request.headers["webhook-id"]), body, response);
        // A server that is killed leaves its requests half written.
      })().catch(() => response.destroy());
    });
  }

  urlOf(conduct: Conduct): string {
    const address = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${address.port}/${conduct}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #take(conduct: Conduct, id: string, body: string, response: ServerResponse): Promise<void> {
    this.requests.set(conduct, (this.requests.get(conduct) ?? 0) + 1);
    const key = `${conduct} ${id}`;
    const before = this.#bodies.get(key);
    const isFirst = before === undefined;
    if (isFirst) this.#bodies.set(key, body);
    else if (before !== body) this.changed.push(key);
    const fails = isFirst && this.#random.chance(MISCONDUCT_SHARE);
    if (fails && conduct === "fails") return void response.writeHead(500).end("try again");
    if (fails && conduct === "resets") return void response.socket?.resetAndDestroy();
    if (fails && conduct === "hangs" && this.#hangs < HANGS_MAX) {
      this.#hangs += 1;
      return;
    }
    if (conduct === "slow") await sleep(SLOW_MS);
    if (conduct === "answersByteByByte") {
      for (const byte of ANSWER.slice(0, -2)) {
        response.socket?.write(byte);
        await sleep(BYTE_MS);
      }
    }
    this.#acknowledge(conduct, key, id, body);
    if (conduct === "liesAboutLength") response.socket?.end(LIE);
    else if (conduct === "answersByteByByte") response.socket?.end(ANSWER.slice(-2));
    else response.writeHead(204).end();
  }

  #acknowledge(endpoint: Conduct, key: string, id: string, body: string): void {
    if (this.#acknowledgedIds.has(key)) return;
    this.#acknowledgedIds.add(key);
    const { type, data } = v.parse(Posted, body);
    const { callId, sequence, agentId, from, isRefused = false } = data;
    const parties = { agentId: agentId ?? undefined, from: from ?? undefined };
    this.acknowledged.push({ endpoint, id, type, callId, sequence, isRefused, ...parties });
  }
}
