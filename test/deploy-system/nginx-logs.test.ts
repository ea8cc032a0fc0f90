import assert from "node:assert/strict";
import { EventEmitter, once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { replaced } from "../../bench/kills/several-nginx.js";
import { freePorts } from "../../bench/livestream/free-ports.js";
import { eventually } from "../system/eventually.js";
import { NginxStand } from "./nginx-stand.js";

const KEY = `vk_${"0123456789abcdef".repeat(3)}`;
const BROWSER = `/ws/voice?api_key=${KEY}&agent_id=1`;
const TELEPHONE = `/api/telephony/voice?api_key=${KEY}`;
const UPGRADE = [
  "Upgrade: websocket",
  "Connection: Upgrade",
  "Sec-WebSocket-Version: 13",
  "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
];

function request(firstLine: string, headers: readonly string[] = [], body = ""): string {
  const length = body === "" ? [] : [`Content-Length: ${body.length}`];
  const referer = `Referer: https://voice.example.com${BROWSER}`;
  const lines = ["Host: voice.example.com", referer, ...headers, ...length];
  return `${firstLine} HTTP/1.1\r\n${lines.join("\r\n")}\r\nConnection: close\r\n\r\n${body}`;
}

function upgrade(path: string): string {
  const lines = [`GET ${path} HTTP/1.1`, "Host: voice.example.com", `Referer: ${path}`, ...UPGRADE];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

/** Must not appear in any log: the key, or its secret part. */
function assertNoKey(logs: string): void {
  const told = logs.split("\n").filter((line) => /vk_|0123456789abcdef/i.test(line));
  assert.deepEqual(told, []);
}

/** nginx writes the line after it has sent the response. */
async function logged(stand: NginxStand, line: RegExp): Promise<void> {
  await eventually(`a line like ${line.source}`, () =>
    stand.accessLines.some((each) => line.test(each)) ? true : undefined,
  );
}

function status(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? Number.NaN);
}

async function nginx(
  context: TestContext,
  upstreamPort: number,
  change?: (conf: string) => string,
): Promise<NginxStand> {
  const stand = await NginxStand.start({ upstreamPort, ...(change && { change }) });
  context.after(() => stand.stop());
  return stand;
}

async function deadPort(): Promise<number> {
  const [port = 0] = await freePorts(1);
  return port;
}

/** Takes Parley's place behind nginx. */
async function upstream(context: TestContext, talk: (socket: Socket) => void): Promise<number> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    talk(socket);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  context.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const address = server.address();
  assert.ok(address !== null && typeof address === "object");
  return address.port;
}

test("if the server is down, callers get an answer, and the log reports it without a key", async (context) => {
  const stand = await nginx(context, await deadPort());
  for (const bytes of [
    upgrade(BROWSER),
    request(`POST ${TELEPHONE}&vendor=plivo`, [], "CallSid=1"),
    request(`POST ${TELEPHONE}&vendor=plivo`, [], "x".repeat(500_000)),
    request(`GET /api/health?api_key=${KEY}`),
  ]) {
    const answer = await stand.exchange(bytes);
    assert.equal(status(answer), 502);
    assert.match(answer, /Retry-After: 5\r\n[^]*"success":false/);
  }
  const held = await stand.exchange(request(`POST ${TELEPHONE}`, [], "CallSid=1"));
  assert.match(held, /<Redirect /);
  await logged(stand, /voice" 200 .*upstream_status=502 /);
  assertNoKey(stand.logs);
  const [, ws = "", phone = ""] = stand.accessLines;
  assert.match(ws, /"GET \/ws\/voice" 502 .*upstream_status=502 upstream_connect=- /);
  assert.match(phone, /"POST \/api\/telephony\/voice" 502 .*upstream_status=502 /);
});

test("if the server hangs, breaks off or sends invalid responses, no log contains a key", async (context) => {
  const fast = (conf: string) =>
    ["3m", "75s", "10s"].reduce(
      (changed, time) => replaced(changed, `read_timeout ${time}`, "read_timeout 1s"),
      conf,
    );
  const port = await upstream(context, (socket) => {
    socket.once("data", (head) => {
      const text = head.toString("latin1");
      if (text.includes("agent_id=broken")) {
        socket.end("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
      } else if (text.includes("agent_id=nonsense")) socket.end(`${KEY} is no answer\r\n\r\n`);
      else if (text.includes("agent_id=gone")) socket.resetAndDestroy();
      else if (text.includes("agent_id=header"))
        socket.end(`HTTP/1.1 200 OK\r\n${KEY}\u0000: x\r\nX: ${"x".repeat(50_000)}\r\n\r\n`);
    });
  });
  const stand = await nginx(context, port, fast);
  assert.equal(status(await stand.exchange(upgrade(BROWSER))), 504);
  assert.match(stand.accessLines.at(-1) ?? "", /\/ws\/voice" 504 .*upstream_status=504 /);
  const unheld = request(`POST ${TELEPHONE}&vendor=plivo`, [], "a=b");
  assert.equal(status(await stand.exchange(unheld)), 502);
  await logged(stand, /voice" 502 .*upstream_status=504 /);
  assert.match(await stand.exchange(request(`GET ${TELEPHONE}&agent_id=broken`)), /half$/);
  for (const fault of ["nonsense", "gone", "header"]) {
    await stand.exchange(request(`GET ${TELEPHONE}&agent_id=${fault}`));
  }
  assertNoKey(stand.logs);
});

test("if a client disconnects at any point, no log contains a key", async (context) => {
  const asked = new EventEmitter();
  const heard = once(asked, "data");
  const port = await upstream(context, (socket) => socket.once("data", () => asked.emit("data")));
  const stand = await nginx(context, port);
  const waiting = await stand.connection();
  waiting.write(upgrade(BROWSER));
  await heard;
  waiting.destroy();
  await eventually("the log line of the client that disconnected", () =>
    stand.accessLines.some((line) => /\/ws\/voice" 499 /.test(line)) ? true : undefined,
  );
  const inBody = await stand.connection();
  inBody.end(`POST ${TELEPHONE} HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf`);
  await once(inBody.resume(), "close");
  const inHead = await stand.connection();
  inHead.end(`GET ${BROWSER} HTTP/1.1\r\nHost: voice.example.com\r\nRefer`);
  await once(inHead.resume(), "close");
  assertNoKey(stand.logs);
});

test("if nginx itself refuses requests, no log contains a key", async (context) => {
  const stand = await nginx(context, await deadPort());
  const long = "x".repeat(40_000);
  const refused: readonly (readonly [statuses: readonly number[], bytes: string])[] = [
    [[414], request(`GET ${BROWSER}&long=${long}`)],
    [[400], request(`GET ${BROWSER}`, [`X-Long: ${long}`])],
    [[400], `GET ${BROWSER} HTTP/1.1\r\nConnection: close\r\n\r\n`],
    [[400], `GET ${BROWSER} HTTP/1.1\r\nHost: a\r\nHost: ${KEY}\r\n\r\n`],
    [[400], `GET ${BROWSER} HTTP/1.1\r\nHost: a/b${KEY}\r\n\r\n`],
    [[505], `GET ${BROWSER} HTTP/9.9\r\nHost: a\r\n\r\n`],
    [[400], `GET ${BROWSER} HTPP/1.1\r\n\r\n`],
    [[400], `${KEY} /ws/voice HTTP/1.1\r\nHost: a\r\n\r\n`],
    [[502], request(`${KEY.toUpperCase().replaceAll(/\d/g, "_")} ${BROWSER}`)],
    [[400], `${KEY}\r\n\r\n`],
    [[400], `\u0016\u0003${KEY}\r\n\r\n`],
    [[400], request(`POST ${TELEPHONE}`, ["Content-Length: 1", "Content-Length: vk_2"])],
    [[501, 400], request(`POST ${TELEPHONE}`, [`Transfer-Encoding: ${KEY}`])],
    [[413], request(`POST ${TELEPHONE}`, ["Content-Length: 1048577"])],
    [[405], request(`TRACE ${BROWSER}`)],
    [[400, 405], request(`CONNECT ${BROWSER}`)],
    [[400], request(`GET /ws/voice%00?api_key=${KEY}`)],
    [[400], request(`GET /../..${BROWSER}`)],
    [[502], request(`GET /ws/voice%3Fapi_key=${KEY}`)],
    [[502], request(`GET /ws/voice%253Fapi_key%253Dvk%255F${KEY.slice(3)}`)],
    [[502], request(`GET /ws/voice;api_key=${KEY}`)],
    [[404], request(`GET /metrics?api_key=${KEY}`)],
    [
      [400],
      `GET https://${KEY}.example.com${BROWSER} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`,
    ],
    [
      [502],
      request(`GET ${BROWSER}`, [`Authorization: Basic ${btoa(`${KEY}:x`)}`, `User-Agent: ${KEY}`]),
    ],
    [[502], `GET ${BROWSER} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${KEY}\r\n\r\n`],
  ];
  for (const [statuses, bytes] of refused) {
    const answer = await stand.exchange(bytes);
    assert.ok(
      statuses.includes(status(answer)),
      `${bytes.slice(0, 200)} got ${answer.slice(0, 100)}`,
    );
  }
  // HTTP on the TLS port, and bytes that are not TLS.
  assert.equal(status(await stand.plainExchange(request(`GET ${BROWSER}`), stand.port)), 400);
  await stand.plainExchange(`${KEY}\r\n`, stand.port);
  const plain = await stand.plainExchange(request(`GET ${BROWSER}`));
  assert.equal(status(plain), 308);
  assert.ok(plain.includes(`Location: https://voice.example.com${BROWSER}\r\n`));
  await stand.plainExchange(`${KEY}\r\n\r\n`);
  await stand.plainExchange(request(`GET ${BROWSER}&long=${long}`));
  const acme = `/.well-known/acme-challenge/none?api_key=${KEY}`;
  assert.equal(status(await stand.plainExchange(request(`GET ${acme}`))), 404);
  assertNoKey(stand.logs);
  assert.ok(stand.accessLines.length > refused.length, "each request has a log line");
});

test("without the disabled error log, the same nginx would log the key", async (context) => {
  const stand = await nginx(context, await deadPort(), (conf) =>
    replaced(conf, "error_log /dev/null emerg;", ""),
  );
  await stand.exchange(upgrade(BROWSER));
  assert.match(stand.logs, new RegExp(`connect\\(\\) failed.*${KEY}`));
});
