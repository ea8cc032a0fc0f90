import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { connect, type Socket } from "node:net";
import { after, afterEach, before, test } from "node:test";
import {
  BODIES_BYTES_MAX,
  BODIES_PER_OWNER_BYTES_MAX,
  BodyMemory,
} from "../../../../api/http/request/request-body.js";
import { EdgeOnLoopback, endpoint, text } from "../edge-on-loopback.js";
import type { Received } from "../loopback-client.js";

const LARGEST_BODY_BYTES = 1024 * 1024;
/** Small enough to be sent at once, however slow the machine is. */
const LITTLE_BYTES = 64 * 1024;
const OWNERS = BODIES_BYTES_MAX / BODIES_PER_OWNER_BYTES_MAX;
const WHOLE = "whole";

interface HeldRequest {
  readonly bytes: number;
  readonly answer: Promise<Received>;
}

let edge: EdgeOnLoopback;
let sockets: Socket[] = [];
let held: HeldRequest[] = [];
/** Emits `held` when a whole body has arrived; the test emits `release` when it may be answered. */
const bodies = new EventEmitter().setMaxListeners(0);

/**
 * The query of a request names its organization. Received bytes count until the response, and no timeout of a backend
 * ends a request whose body is complete. So the server is filled with complete bodies; an incomplete body, whose
 * connection is closed after ten seconds, only has to wait for a small part of another one.
 */
before(async () => {
  const reading = endpoint({
    method: "post",
    readsBody: true,
    answer: async (request) => {
      if (request.queryString !== "") request.bodyBelongsTo(request.queryString);
      const { length } = await request.body();
      if (length > WHOLE.length) {
        const isReleased = once(bodies, "release");
        bodies.emit("held");
        await isReleased;
      }
      return text(`${length}`);
    },
  });
  edge = await EdgeOnLoopback.start([reading], { trustedProxies: ["127.0.0.1"] });
});

afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets = [];
  bodies.emit("release");
  for (const { bytes, answer } of held) assert.equal((await answer).text, `${bytes}`);
  held = [];
  // The bytes of incomplete bodies are released once the server has noticed the disconnection.
  const answer = await edge.client.send("POST", "/api/thing", { raw: WHOLE });
  assert.equal(answer.text, "5");
});

after(() => edge.close());

/** Sends complete bodies of this many bytes in total, whose responses are held. */
async function hold(bytes: number, address: string, query = ""): Promise<void> {
  for (let left = bytes; left > 0; left -= LARGEST_BODY_BYTES) {
    const raw = Buffer.alloc(Math.min(left, LARGEST_BODY_BYTES));
    const isHeld = once(bodies, "held");
    const headers = { "x-forwarded-for": address };
    const answer = edge.client.send("POST", `/api/thing${query}`, { headers, raw });
    const refused = await Promise.race([isHeld.then(() => undefined), answer]);
    assert.equal(refused, undefined);
    held.push({ bytes: raw.length, answer });
  }
}

/** Sends a request without its last byte, and resolves with the server's response. */
function unfinished(bytes: number, address: string, query = ""): Promise<string> {
  const socket = connect(edge.port, "127.0.0.1");
  sockets.push(socket);
  const head = [
    `POST /api/thing${query} HTTP/1.1`,
    "host: a",
    `x-forwarded-for: ${address}`,
    `content-length: ${bytes + 1}`,
  ];
  socket.write(`${head.join("\r\n")}\r\n\r\n`);
  socket.write(Buffer.alloc(bytes));
  let answer = "";
  return new Promise((resolve) => {
    socket.on("data", (part) => {
      answer += part.toString();
    });
    socket.on("error", () => resolve(answer));
    socket.on("close", () => resolve(answer));
  });
}

test("bodies of one address are bounded, including unfinished ones, and those of another are accepted meanwhile", async () => {
  await hold(BODIES_PER_OWNER_BYTES_MAX - LITTLE_BYTES, "192.0.2.1");
  const both = [unfinished(LITTLE_BYTES, "192.0.2.1"), unfinished(LITTLE_BYTES, "192.0.2.1")];
  // The one that reaches the server last is refused.
  const answer = await Promise.race(both);
  assert.match(answer, /^HTTP\/1\.1 429 /);
  assert.match(answer, /retry-after: 1\r\n/i);
  assert.match(answer, /unfinished requests of this address have more than 16777216 bytes/);
  const headers = { "x-forwarded-for": "192.0.2.2" };
  const other = await edge.client.send("POST", "/api/thing", { headers, raw: WHOLE });
  assert.deepEqual([other.status, other.text], [200, "5"]);
});

test("bodies of one organization are bounded across all its addresses", async () => {
  const addresses = BODIES_PER_OWNER_BYTES_MAX / LARGEST_BODY_BYTES;
  for (let n = 1; n <= addresses; n += 1) await hold(LARGEST_BODY_BYTES, `192.0.2.${n}`, "?org");
  const answer = await unfinished(1, "192.0.2.200", "?org");
  assert.match(answer, /^HTTP\/1\.1 429 .*of this organization/s);
  const sent = { raw: WHOLE, headers: { "x-forwarded-for": "192.0.2.1" } };
  assert.equal((await edge.client.send("POST", "/api/thing?other", sent)).text, "5");
});

test("the total of bodies is bounded: the owner with the most bytes loses one to a new owner", async () => {
  for (let owner = 1; owner <= OWNERS; owner += 1) {
    await hold(BODIES_PER_OWNER_BYTES_MAX - LITTLE_BYTES, `192.0.2.${owner}`);
  }
  const most = unfinished(LITTLE_BYTES, `192.0.2.${OWNERS}`);
  // Either of the two, whichever arrives first, reaches the limit.
  await hold(OWNERS * LITTLE_BYTES, "192.0.2.200");
  assert.match(await most, /^HTTP\/1\.1 503 .*too many unfinished requests/s);
});

function counted(owner: string, isSettled: boolean, refused: string[]) {
  return { owner, isSettled, byteCount: 0, refuse: () => void refused.push(owner) };
}

test("a complete body is never dropped for another: an unfinished one is refused, or the one that grows", () => {
  const refused: string[] = [];
  const room = new BodyMemory();
  const small = counted("small", false, refused);
  assert.ok(room.take(small, 1));
  for (let owner = 0; owner < BODIES_BYTES_MAX / BODIES_PER_OWNER_BYTES_MAX; owner += 1) {
    const bytes = BODIES_PER_OWNER_BYTES_MAX - (owner === 0 ? 1 : 0);
    assert.ok(room.take(counted(`whole ${owner}`, true, refused), bytes));
  }
  assert.deepEqual([refused, room.byteCount], [[], BODIES_BYTES_MAX]);
  const newcomer = counted("newcomer", false, refused);
  assert.equal(room.take(newcomer, 100), false);
  assert.deepEqual([refused, room.byteCount], [["newcomer"], BODIES_BYTES_MAX]);
});
