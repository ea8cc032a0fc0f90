import { setTimeout as sleep } from "node:timers/promises";
import * as v from "valibot";
import type { Attack } from "../attack.js";
import type { AttackStand } from "../attack-stand.js";
import type { AttackedServer } from "../attacked-server.js";
import type { Findings } from "../findings.js";
import { MISFRAMED } from "./misframed-requests.js";
import { someBytes } from "./mutations.js";
import { exchangeWithin } from "./raw-exchange.js";

const SAMPLE_ROUNDS = 3;
const PIPELINED_MAX = 3;
const GARBAGE_BYTES_MAX = 2_000;
const PIECE_BYTES_MAX = 40;
const Keys = v.array(
  v.object({ id: v.string(), name: v.string(), revokedAt: v.nullable(v.string()) }),
);
const SECOND = "GET /api/plans HTTP/1.1\r\nhost: x\r\n\r\n";
const KEYS = "/api/dashboard/api-keys";

export const HTTP_FRAMING: Attack = {
  name: "http-framing",
  promise:
    "a request that two readers could read in two ways is refused and its connection closed; nothing pipelined is carried out without its answer",
  weight: 4,
  sampleMs: 4_000,
  async run(stand, findings) {
    const server = await stand.server();
    await misframed(server, findings);
    let rounds = 0;
    do {
      await pipelined(stand, server, findings);
      await inPieces(stand, server, findings);
      await garbage(stand, server, findings);
      rounds += 1;
    } while (stand.isSample ? rounds < SAMPLE_ROUNDS : stand.hasTime());
    findings.tell(`${rounds} rounds of pipelines, pieces and garbage`);
  },
};

function head(method: string, path: string, { apiKey }: AttackedServer): string {
  return `${method} ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${apiKey}\r\ncontent-type: application/json\r\n`;
}

async function misframed(server: AttackedServer, findings: Findings): Promise<void> {
  // Read otherwise, the first has a body that is refused too, and the second is a key that there is not.
  const heads = [head("POST", KEYS, server), head("DELETE", `${KEYS}/none`, server)];
  const ways = heads.flatMap((start) => ["", SECOND].map((behind) => [start, behind] as const));
  for (const [name, framing, status] of MISFRAMED) {
    for (const [start, behind] of ways) {
      const bytes = start + framing + behind;
      const answer = await exchangeWithin(server.port, bytes);
      findings.demand(answer !== undefined, `${name}: the connection stayed open`);
      // With more bytes unread behind it, the close may overtake the refusal.
      const isRefused = status.test(answer?.slice(9, 12) ?? "") || (behind !== "" && answer === "");
      findings.demand(isRefused, `${name}: not refused`);
      findings.demand(!/ 20\d /.test(answer ?? ""), `${name}: what came behind was answered`);
    }
  }
}

/** Keys that were made, against the answers that say so. */
async function pipelined(
  { random }: AttackStand,
  server: AttackedServer,
  findings: Findings,
): Promise<void> {
  const name = `key ${random.whole(0, 1e9)}`;
  const body = JSON.stringify({ name });
  const post = `${head("POST", KEYS, server)}content-length: ${body.length}\r\n\r\n${body}`;
  const count = random.whole(2, PIPELINED_MAX);
  const last = `${head("GET", "/api/plans", server)}connection: close\r\n\r\n`;
  const answers = await exchangeWithin(server.port, post.repeat(count) + last);
  findings.demand(answers !== undefined, "a pipeline left its connection open");
  const told = answers?.match(/HTTP\/1\.1 201/g)?.length ?? 0;
  const keys = (await server.read(Keys, "GET", KEYS)).filter((key) => key.name === name);
  findings.demand(keys.length === told, "a pipelined request was carried out without its answer");
  for (const { id, revokedAt } of keys) {
    if (revokedAt === null) await server.ask("DELETE", `${KEYS}/${id}`);
  }
}

async function inPieces(
  { random }: AttackStand,
  server: AttackedServer,
  findings: Findings,
): Promise<void> {
  const body = JSON.stringify({ name: "" });
  const start = head("POST", KEYS, server);
  const bytes = `${start}connection: close\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
  const answer = await exchangeWithin(server.port, async (write) => {
    const line = start.indexOf("\n") + 1;
    // uWebSockets.js answers 505 when the version at the end of this line comes in two segments.
    write(bytes.slice(0, line));
    for (let at = line; at < bytes.length; ) {
      const size = random.whole(1, PIECE_BYTES_MAX);
      write(bytes.slice(at, at + size));
      at += size;
      await sleep(random.whole(0, 3));
    }
  });
  findings.demand(/^HTTP\/1\.1 400 [^]*name/.test(answer ?? ""), "a request in pieces was misread");
}

const BEGINNINGS = [
  "",
  "GET / HTTP/1.1\r\n",
  "POST /api/auth/signin HTTP/1.1\r\nhost: x\r\n",
  "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
];

async function garbage(
  { random }: AttackStand,
  server: AttackedServer,
  findings: Findings,
): Promise<void> {
  const beginning = random.pick(BEGINNINGS);
  const bytes = Buffer.concat([
    Buffer.from(beginning),
    someBytes(random, GARBAGE_BYTES_MAX),
    Buffer.from("\r\n\r\n"),
  ]);
  const answer = await exchangeWithin(server.port, async (write, end) => {
    write(bytes);
    end();
  });
  findings.demand(answer !== undefined, "garbage kept a connection open that its client had ended");
  findings.demand(!/^HTTP\/1\.1 (?:2|500)/.test(answer ?? ""), "garbage was answered as a request");
  findings.demand((await server.ask("GET", "/api/health")).status === 200, "not healthy");
}
