import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { after, afterEach, before, test } from "node:test";
import { BODIES_PER_OWNER_BYTES_MAX } from "../../../../api/http/request/request-body.js";
import { EdgeOnLoopback, endpoint, text } from "../edge-on-loopback.js";

const BODY_BYTES = 1024 * 1024;
const BODIES_PER_OWNER = BODIES_PER_OWNER_BYTES_MAX / BODY_BYTES;
const OWNERS = 4;

let edge: EdgeOnLoopback;
let sockets: Socket[] = [];

/** The query of a request says to which organization it belongs. */
before(async () => {
  const reading = endpoint({
    method: "post",
    readsBody: true,
    answer: async (request) => {
      if (request.queryString !== "") request.bodyBelongsTo(request.queryString);
      return text(`${(await request.body()).length}`);
    },
  });
  edge = await EdgeOnLoopback.start([reading], { trustedProxies: ["127.0.0.1"] });
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  // What has come for them is given up when the server has noticed.
  const answer = await edge.client.send("POST", "/api/thing", { raw: "whole" });
  assert.equal(answer.text, "5");
});

after(() => edge.close());

/** The first answer to any of these bodies: whichever reaches the server last is the one that is refused. */
const refusalOf = (all: readonly { readonly answered: Promise<string> }[]): Promise<string> =>
  Promise.race(all.map(({ answered }) => answered));

/** Sends a request whose last byte never comes; `answered` resolves with what the server says to it. */
async function unfinished(address: string, query = "") {
  const socket = connect(edge.port, "127.0.0.1");
  sockets.push(socket);
  let answer = "";
  const answered = new Promise<string>((resolve) => {
    socket.on("data", (part) => {
      answer += part.toString();
    });
    socket.on("error", () => resolve(answer));
    socket.on("close", () => resolve(answer));
  });
  const head = [
    `POST /api/thing${query} HTTP/1.1`,
    "host: a",
    `x-forwarded-for: ${address}`,
    `content-length: ${BODY_BYTES}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  const isSent = new Promise((resolve) => socket.write(Buffer.alloc(BODY_BYTES - 1), resolve));
  return { answered, isSent: Promise.race([isSent, answered]) };
}

async function fill(count: number, address: string, query = "") {
  const all = [];
  for (let n = 0; n < count; n += 1) {
    const one = await unfinished(address, query);
    await one.isSent;
    all.push(one);
  }
  return all;
}

test("unfinished bodies of one address are bounded, and those of another are taken meanwhile", async () => {
  const answer = await refusalOf(await fill(BODIES_PER_OWNER + 1, "192.0.2.1"));
  assert.match(answer, /^HTTP\/1\.1 429 /);
  assert.match(answer, /retry-after: 1\r\n/i);
  assert.match(answer, /unfinished requests of this address have more than 16777216 bytes/);
  const headers = { "x-forwarded-for": "192.0.2.2" };
  const other = await edge.client.send("POST", "/api/thing", { headers, raw: "whole" });
  assert.deepEqual([other.status, other.text], [200, "5"]);
});

test("those of one organization are bounded over all its addresses", async () => {
  const all = [];
  for (let n = 0; n <= BODIES_PER_OWNER; n += 1)
    all.push(...(await fill(1, `192.0.2.${n}`, "?org")));
  assert.match(await refusalOf(all), /^HTTP\/1\.1 429 .*of this organization/s);
  const sent = { raw: "whole", headers: { "x-forwarded-for": "192.0.2.1" } };
  assert.equal((await edge.client.send("POST", "/api/thing?other", sent)).text, "5");
});

test("those of all together are bounded: who has most gives way to a newcomer", async () => {
  const all = [];
  for (let owner = 0; owner < OWNERS; owner += 1) {
    all.push(...(await fill(BODIES_PER_OWNER, `192.0.2.${owner}`)));
  }
  const more = await fill(OWNERS, "192.0.2.200");
  assert.match(await refusalOf(all), /^HTTP\/1\.1 503 .*too many unfinished requests/s);
  const last = await Promise.race([refusalOf(more), Promise.resolve("they wait")]);
  assert.equal(last, "they wait");
});
