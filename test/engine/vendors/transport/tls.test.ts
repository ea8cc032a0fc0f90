import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { after, afterEach, before, beforeEach, describe, test } from "node:test";
import { CertificateAuthority } from "../../../../engine/sandbox/sandbox.js";
import { VendorError } from "../../../../engine/vendors/contracts.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import { requestStream } from "../../../../engine/vendors/transport/http-stream.js";
import { openSocket } from "../../../../engine/vendors/transport/web-socket.js";
import { collectGarbage } from "../../../doubles/garbage.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { never } from "../sandboxed-vendors.js";
import { authority, ScriptedTlsServer } from "../scripted-tls-server.js";

const OPEN_TIMEOUT_MS = 5_000;
const LIMITS = { firstByteMs: 5_000, betweenBytesMs: 5_000, totalMs: 9_000, replyMaxBytes: 1_000 };
const refuse = () => new VendorError("acme", "refused", "acme: no");

const QUESTION = {
  vendor: "acme",
  method: "GET",
  path: "/",
  headers: {},
  body: undefined,
  limits: LIMITS,
  refuse,
} as const;

let server: ScriptedTlsServer;
let clock = new VirtualClock();
let connections: Connections;

beforeEach(async () => {
  server = new ScriptedTlsServer();
  await server.start();
  clock = new VirtualClock();
  connections = trusting(authority.certificate);
});

afterEach(async () => {
  await connections.close();
  await server.close();
});

function trusting(...authorities: readonly string[]): Connections {
  return new Connections({ clock, allowPrivateAddresses: true, authorities });
}

/** The whole answer as text. */
async function ask(over = connections, origin = server.origin): Promise<string> {
  const chunks: Buffer[] = [];
  await requestStream(
    {
      ...QUESTION,
      origin,
      dispatcher: over.for(false),
      clock,
    },
    (chunk) => chunks.push(chunk) < 0,
    never(),
  );
  return Buffer.concat(chunks).toString();
}

function open(over = connections, origin = server.origin) {
  const url = origin.replace(/^http/, "ws");
  const connect = over.forSocket(false);
  const means = { openTimeoutMs: OPEN_TIMEOUT_MS, offersCompression: false, refuse, clock };
  return openSocket({ vendor: "acme", url, headers: {}, connect, ...means }, never());
}

function portOf(listening: Server): number {
  const address = listening.address();
  assert.ok(address !== null && typeof address === "object");
  return address.port;
}

const ways = { "a request": ask, "a WebSocket": open };

describe("a certificate", () => {
  let other: Connections;
  let believer: Connections;
  let expired: ScriptedTlsServer;
  let elsewhere: ScriptedTlsServer;
  before(async () => {
    const another = await CertificateAuthority.create();
    const old = await CertificateAuthority.create(Date.now() - 90 * 24 * 3_600_000);
    other = trusting(another.certificate);
    believer = trusting(old.certificate);
    expired = new ScriptedTlsServer(await old.identityFor(["127.0.0.1"]));
    elsewhere = new ScriptedTlsServer(await authority.identityFor(["api.example.com"]));
    await Promise.all([expired.start(), elsewhere.start()]);
  });
  after(async () => {
    await Promise.all([other.close(), believer.close()]);
    await Promise.all([expired.close(), elsewhere.close()]);
  });

  for (const [way, reach] of Object.entries(ways)) {
    test(`whose authority is not trusted is refused by ${way}, with the reason`, async (t) => {
      const strict = trusting();
      t.after(() => strict.close());
      await assert.rejects(reach(strict), {
        name: "VendorError",
        fault: "refused",
        message: /^acme: no TLS connection that can be trusted: UNABLE_TO_VERIFY_LEAF_SIGNATURE$/,
      });
    });

    test(`of an untrusted authority is refused by ${way}`, async () => {
      await assert.rejects(reach(other), {
        fault: "refused",
        message: /can be trusted: UNABLE_TO/,
      });
    });

    test(`for another name is refused by ${way}`, async () => {
      await assert.rejects(reach(connections, elsewhere.origin), {
        fault: "refused",
        message: /can be trusted: ERR_TLS_CERT_ALTNAME_INVALID$/,
      });
    });

    test(`that is no longer valid is refused by ${way}`, async () => {
      await assert.rejects(reach(believer, expired.origin), {
        fault: "refused",
        message: /can be trusted: CERT_HAS_EXPIRED$/,
      });
    });
  }
});

describe("a peer that takes the connection and never answers the handshake", () => {
  const silent = createServer();
  const taken: Socket[] = [];
  before(async () => {
    silent.on("connection", (socket) => taken.push(socket.on("error", () => undefined)));
    await once(silent.listen(0, "127.0.0.1"), "listening");
  });
  after(() => {
    for (const socket of taken) socket.destroy();
    silent.close();
  });

  for (const [way, reach] of Object.entries(ways)) {
    test(`fails ${way} by its deadline`, async () => {
      const connected = once(silent, "connection");
      const reached = reach(connections, `https://127.0.0.1:${portOf(silent)}`);
      const timedOut = assert.rejects(reached, { fault: "timeout" });
      await connected;
      clock.advance(OPEN_TIMEOUT_MS);
      await timedOut;
    });
  }
});

test("requests one after the other share a connection, and so a handshake", async () => {
  for (let count = 0; count < 3; count += 1) {
    assert.equal(await ask(), "hello");
    // The pool has its connection back once the answer's own callbacks are through.
    await new Promise(setImmediate);
  }
  assert.equal(server.secured.length, 1);
});

test("a connection after the first resumes its session, even if memory was collected between", async () => {
  await ask();
  await collectGarbage();
  const socket = await open();
  assert.deepEqual(server.resumed, [false, true]);
  socket.destroy();
});

/** The first bytes of an answer that says neither how long it is nor that it has ended. */
function answerForever(): Promise<void> {
  return new Promise((resolve) => {
    server.onRequest = (_request, response) => {
      response.write("hel");
      resolve();
    };
  });
}

for (const [what, spoil] of [
  ["without close_notify", () => server.cut()],
  ["by something that is not TLS", () => server.corrupt()],
] as const) {
  test(`an answer that is broken off ${what} is a lost connection, not a wrong setting`, async () => {
    const begun = answerForever();
    const broken = assert.rejects(ask(), { fault: "disconnected" });
    await begun;
    spoil();
    await broken;
  });

  test(`a WebSocket that is destroyed ${what} is reported as closed, once`, async () => {
    const socket = await open();
    const closed = new Promise((resolve) => {
      const ignore = () => undefined;
      socket.listen({ onText: ignore, onBinary: ignore, onClosed: resolve });
    });
    spoil();
    assert.equal(await closed, 1006);
    assert.equal(socket.isOpen, false);
  });
}

test("a server that breaks a kept connection between two requests costs a handshake, not the request", async () => {
  await ask();
  const [first] = server.connections;
  server.cut();
  await server.changes.until("the end", () => first?.destroyed);
  assert.equal(await ask(), "hello");
});

test("frames that TLS takes later arrive as they were written, in bursts and one by one", async () => {
  const socket = await open();
  const texts = Array.from({ length: 300 }, (_, n) => `frame ${n} `.repeat((n % 50) + 1));
  const payload = Buffer.alloc(2_048);
  for (const [n, text] of texts.entries()) {
    const length = payload.write(text);
    socket.sendBinary(payload.subarray(0, length));
    // Every seventh waits until the system has what came before.
    if (n % 7 === 0) await new Promise(setImmediate);
  }
  await server.changes.until("all frames", () => server.heard.length === texts.length);
  assert.deepEqual(server.heard, texts);
  socket.destroy();
});
