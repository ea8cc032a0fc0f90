import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { PerformanceObserver, performance } from "node:perf_hooks";
import { pathToFileURL } from "node:url";
import { WebSocketServer } from "ws";
import { CertificateAuthority } from "../engine/sandbox/sandbox.js";
import { SystemClock } from "../engine/time/clock.js";
import { VendorError } from "../engine/vendors/contracts.js";
import { Connections } from "../engine/vendors/transport/connections.js";
import { openSocket, type VendorSocket } from "../engine/vendors/transport/web-socket.js";
import { BenchProcess, LOAD_CORE, pinThisProcess } from "./stand/child-process.js";

/**
 * What a caller's frame to STT costs, over plain TCP and over TLS: `node dist/bench/vendor-frames.js`. All calls send
 * one frame, then the loop turns until the system has taken them, as it does between two ticks of a server.
 */
const CALLS = 200;
const ROUNDS = 1_000;
const FRAME_BYTES = { "µ-law, 8 kHz": 160, "16-bit PCM, 16 kHz": 640 };

interface Peer {
  readonly plainPort: number;
  readonly tlsPort: number;
  readonly ca: string;
}

/** Upgrades, reads and throws away, in a process of its own. */
async function serveAsPeer(): Promise<void> {
  const authority = await CertificateAuthority.create();
  const identity = await authority.identityFor(["127.0.0.1"]);
  const portOf = async (server: Server) => {
    const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
    server.on("upgrade", (request, socket, head) => {
      sockets.handleUpgrade(request, socket, head, () => {
        socket.removeAllListeners("data").on("error", () => undefined);
        socket.resume();
      });
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    const address: AddressInfo | string | null = server.address();
    return typeof address === "object" ? address?.port : undefined;
  };
  const plainPort = await portOf(createServer());
  const tlsPort = await portOf(createTlsServer(identity));
  console.log(JSON.stringify({ plainPort, tlsPort, ca: authority.certificate }));
  process.once("SIGTERM", () => process.exit(0));
}

function open(peer: Peer, connections: Connections, isTls: boolean): Promise<VendorSocket> {
  const url = isTls ? `wss://127.0.0.1:${peer.tlsPort}` : `ws://127.0.0.1:${peer.plainPort}`;
  return openSocket(
    {
      vendor: "peer",
      url,
      headers: {},
      connect: connections.forSocket(false),
      clock: new SystemClock(),
      openTimeoutMs: 5_000,
      offersCompression: false,
      refuse: ({ status }) => new VendorError("peer", "refused", `peer: HTTP ${status}`),
    },
    new AbortController().signal,
  );
}

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

async function measure(peer: Peer, isTls: boolean, sizeBytes: number): Promise<object> {
  const authorities = [peer.ca];
  const clock = new SystemClock();
  const connections = new Connections({ clock, allowPrivateAddresses: true, authorities });
  const opening = Array.from({ length: CALLS }, () => open(peer, connections, isTls));
  const sockets = await Promise.all(opening);
  const payload = new Uint8Array(sizeBytes).fill(7);
  const run = async (rounds: number) => {
    for (let round = 0; round < rounds; round += 1) {
      for (const socket of sockets) socket.sendBinary(payload);
      do {
        await nextTurn();
      } while (sockets.some(({ bufferedBytes }) => bufferedBytes > 0));
    }
  };
  await run(ROUNDS / 4);
  let collections = 0;
  let collectingMs = 0;
  const observer = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      collections += 1;
      collectingMs += duration;
    }
  });
  observer.observe({ entryTypes: ["gc"] });
  const cpu = process.cpuUsage();
  await run(ROUNDS);
  const { user, system } = process.cpuUsage(cpu);
  await nextTurn();
  observer.disconnect();
  for (const socket of sockets) socket.destroy();
  await connections.close();
  return {
    "CPU µs a frame": ((user + system) / (ROUNDS * CALLS)).toFixed(2),
    collections,
    "collecting ms": collectingMs.toFixed(0),
    "RSS MB": Math.round(process.memoryUsage().rss / 1e6),
  };
}

async function main(): Promise<void> {
  pinThisProcess();
  const process_ = await BenchProcess.start({
    script: "vendor-frames.js",
    args: ["peer"],
    env: {},
    core: LOAD_CORE,
    readyPattern: /^(\{.*\})$/,
  });
  const peer: Peer = JSON.parse(process_.ready);
  const table: Record<string, object> = {};
  for (const [name, sizeBytes] of Object.entries(FRAME_BYTES)) {
    for (const isTls of [false, true]) {
      table[`${name}, ${isTls ? "TLS" : "plain"}`] = await measure(peer, isTls, sizeBytes);
    }
  }
  console.table(table);
  console.log(`${(performance.now() / 1_000).toFixed(0)} s`);
  await process_.stop();
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await (process.argv[2] === "peer" ? serveAsPeer() : main());
}
