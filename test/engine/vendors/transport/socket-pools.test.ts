import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { VendorError } from "../../../../engine/vendors/contracts.js";
import { Connections } from "../../../../engine/vendors/transport/connections.js";
import type { SocketPools } from "../../../../engine/vendors/transport/socket-pools.js";
import { openSocket, type VendorSocket } from "../../../../engine/vendors/transport/web-socket.js";
import { VirtualClock } from "../../../doubles/virtual-clock.js";
import { eventually, never } from "../sandboxed-vendors.js";
import { type ScriptedPeer, ScriptedSocketServer } from "../scripted-socket-server.js";

const IDLE_SOCKETS_MAX = 32;
const POOLS_MAX = 32;

describe("sockets that wait for their next sentence", () => {
  let clock: VirtualClock;
  let server: ScriptedSocketServer;
  let connections: Connections;
  let pools: SocketPools;

  beforeEach(async () => {
    clock = new VirtualClock();
    server = new ScriptedSocketServer();
    await server.start();
    connections = new Connections({ clock, allowPrivateAddresses: true });
    pools = connections.socketPools;
  });

  afterEach(async () => {
    await connections.close();
    await server.close();
  });

  function open(): Promise<VendorSocket> {
    const { url } = server;
    const connect = connections.forSocket(false);
    const refuse = () => new VendorError("acme", "refused", "acme: no");
    const means = { connect, clock, openTimeoutMs: 5_000, offersCompression: false, refuse };
    return openSocket({ vendor: "acme", url, headers: {}, ...means }, never());
  }

  async function untilClosed(...sockets: readonly VendorSocket[]): Promise<void> {
    await eventually(() => sockets.every(({ isOpen }) => !isOpen), "the end");
  }

  it("are taken newest first, and wait no longer than twenty seconds", async () => {
    const pool = pools.pool("a");
    const [first, second] = [await open(), await open()];
    pool.release(first);
    clock.advance(1_000);
    pool.release(second);
    assert.equal(pool.take(), second);
    pool.release(second);
    assert.deepEqual([pools.idleCount, clock.pendingTimerCount], [2, 2]);
    clock.advance(18_999);
    assert.equal(pool.idleCount, 2);
    clock.advance(1);
    assert.equal(pool.idleCount, 1);
    await untilClosed(first);
    assert.equal(pool.take(), second);
    assert.equal(pool.take(), undefined);
    assert.equal(clock.pendingTimerCount, 0);
    assert.ok(second.isOpen);
  });

  it("are limited in number", async () => {
    const pool = pools.pool("a");
    const sockets = await Promise.all(Array.from({ length: IDLE_SOCKETS_MAX + 1 }, open));
    for (const socket of sockets) pool.release(socket);
    assert.equal(pool.idleCount, IDLE_SOCKETS_MAX);
    const last = sockets.at(-1);
    assert.ok(last);
    await untilClosed(last);
  });

  it("are those that are open", async () => {
    const pool = pools.pool("a");
    const socket = await open();
    socket.destroy();
    await untilClosed(socket);
    pool.release(socket);
    assert.deepEqual([pool.idleCount, clock.pendingTimerCount], [0, 0]);
  });

  it("are closed when they send data, or are closed, while idle", async () => {
    const pool = pools.pool("a");
    for (const [index, act] of [
      (peer: ScriptedPeer) => peer.socket.send("words"),
      (peer: ScriptedPeer) => peer.socket.send(Buffer.of(1)),
      (peer: ScriptedPeer) => peer.socket.close(),
    ].entries()) {
      const socket = await open();
      pool.release(socket);
      act(await server.peer(index));
      await eventually(() => pool.idleCount === 0, "nobody to wait");
      await untilClosed(socket);
      assert.equal(clock.pendingTimerCount, 0);
    }
  });

  it("are opened ahead one at a time, not where one waits, and however often it failed", async () => {
    const pool = pools.pool("a");
    await pool.warm(open);
    await pool.warm(open);
    assert.deepEqual([pool.idleCount, server.upgradeCount], [1, 1]);
    pool.take();
    for (let n = 0; n <= IDLE_SOCKETS_MAX; n++) {
      await assert.rejects(pool.warm(() => Promise.reject(new Error("no"))));
    }
    await pool.warm(open);
    assert.equal(server.upgradeCount, 2);
  });

  it("are opened ahead for no more sentences at once than may wait", async () => {
    const pool = pools.pool("a");
    let asked = 0;
    const waiting = new Promise<VendorSocket>(() => undefined);
    const stall = () => {
      asked += 1;
      return waiting;
    };
    for (let n = 0; n <= IDLE_SOCKETS_MAX; n++) void pool.warm(stall);
    assert.equal(asked, IDLE_SOCKETS_MAX);
  });

  it("are closed with their pool, which then accepts and opens none", async () => {
    const pool = pools.pool("first");
    const waiting = await open();
    pool.release(waiting);
    for (let n = 1; n < POOLS_MAX; n++) pools.pool(String(n));
    assert.equal(pools.idleCount, 1);
    pools.pool("one more");
    await untilClosed(waiting);
    assert.deepEqual([pools.idleCount, pool.idleCount, clock.pendingTimerCount], [0, 0, 0]);
    assert.notEqual(pools.pool("first"), pool);
    const late = await open();
    pool.release(late);
    await untilClosed(late);
    await pool.warm(open);
    assert.equal(server.upgradeCount, 2);
  });

  it("stay when their pool was used again, while an unused one is dropped", async () => {
    const [first, second] = [pools.pool("first"), pools.pool("second")];
    const sockets = [await open(), await open()] as const;
    first.release(sockets[0]);
    second.release(sockets[1]);
    for (let n = 2; n < POOLS_MAX; n++) pools.pool(String(n));
    assert.equal(pools.pool("first"), first);
    pools.pool("one more");
    assert.deepEqual([first.idleCount, second.idleCount], [1, 0]);
    await untilClosed(sockets[1]);
    assert.ok(sockets[0].isOpen);
  });

  it("are closed with all connections, and opening another one fails", async () => {
    const [pool, other] = [pools.pool("a"), pools.pool("b")];
    const sockets = [await open(), await open()] as const;
    pool.release(sockets[0]);
    other.release(sockets[1]);
    assert.equal(pools.idleCount, 2);
    assert.equal(pools.ended.aborted, false);
    await connections.close();
    assert.equal(pools.ended.aborted, true);
    assert.deepEqual([pools.idleCount, clock.pendingTimerCount], [0, 0]);
    await untilClosed(...sockets);
  });

  it("are no longer kept after all connections are closed, though their pool is used again", async () => {
    pools.pool("a");
    const late = await open();
    pools.close();
    pools.pool("a").release(late);
    assert.deepEqual([pools.idleCount, clock.pendingTimerCount], [0, 0]);
    await untilClosed(late);
  });
});
