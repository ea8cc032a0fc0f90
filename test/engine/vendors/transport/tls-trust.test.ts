import assert from "node:assert/strict";
import { once } from "node:events";
import { PassThrough } from "node:stream";
import { after, before, test } from "node:test";
import { connect, TLSSocket } from "node:tls";
import type { buildConnector } from "undici";
import { keepSessions, trust } from "../../../../engine/vendors/transport/tls-trust.js";
import { collectGarbage } from "../../../doubles/garbage.js";
import { authority, ScriptedTlsServer } from "../scripted-tls-server.js";

const server = new ScriptedTlsServer();
before(() => server.start());
after(() => server.close());

/** Why a server is not trusted; undefined where it is. */
async function distrust(authorities: readonly string[]): Promise<unknown> {
  const { hostname: host, port } = new URL(server.origin);
  const socket = connect({ host, port: Number(port), secureContext: trust(authorities) });
  try {
    await once(socket, "secureConnect");
    return undefined;
  } catch (error) {
    return error instanceof Error && "code" in error ? error.code : error;
  } finally {
    socket.destroy();
  }
}

test("a server with a configured authority is trusted, and no other", async () => {
  assert.equal(await distrust([]), "UNABLE_TO_VERIFY_LEAF_SIGNATURE");
  assert.equal(await distrust([authority.certificate]), undefined);
});

test("the newest session of each of 256 hosts is held however often memory is collected, and of no more", async () => {
  let given = new TLSSocket(new PassThrough());
  const told: unknown[] = [];
  const connector = keepSessions((_options, callback) => callback(null, given));
  const sessions = Array.from({ length: 257 }, (_, host) => {
    given = new TLSSocket(new PassThrough());
    const options: buildConnector.Options = {
      hostname: `host-${host}`,
      protocol: "https:",
      port: "443",
    };
    connector(options, (...all) => told.push(all[1]));
    assert.equal(told.at(-1), given);
    const session = Buffer.alloc(1);
    given.emit("session", session);
    return new WeakRef(session);
  });
  await collectGarbage();
  assert.deepEqual(
    sessions.flatMap((session, host) => (session.deref() === undefined ? [host] : [])),
    [0],
  );
});
