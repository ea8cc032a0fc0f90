import assert from "node:assert/strict";
import { Socket } from "node:net";
import { test } from "node:test";
import type { buildConnector } from "undici";
import { SocketShare } from "../../../../engine/vendors/transport/organization-connections.js";

const SOCKETS_PER_ORGANIZATION_MAX = 1_600;
const WHERE: buildConnector.Options = { hostname: "a", protocol: "http:", port: "80" };

/** A connector whose sockets the test opens and breaks. */
function trial() {
  const share = new SocketShare();
  const asked: buildConnector.Callback[] = [];
  const connect = share.limited((_options, callback) => void asked.push(callback));
  const open = () => {
    const outcome: unknown[] = [];
    connect(WHERE, (...given) => outcome.push(...given));
    return outcome;
  };
  return { share, asked, open };
}

test("an organization has a limited number of sockets, including connecting ones, and room again when one has closed", async () => {
  const { share, asked, open } = trial();
  for (let n = 0; n < SOCKETS_PER_ORGANIZATION_MAX; n += 1) open();
  const [refused] = open();
  assert.ok(refused instanceof Error);
  assert.match(refused.message, /the organization has 1600 sockets in use/);
  asked[0]?.(new Error("refused"), null);
  open();
  const socket = new Socket();
  asked[1]?.(null, socket);
  assert.equal(share.openCount, SOCKETS_PER_ORGANIZATION_MAX);
  socket.destroy();
  await new Promise((resolve) => socket.once("close", resolve));
  assert.equal(share.openCount, SOCKETS_PER_ORGANIZATION_MAX - 1);
});
