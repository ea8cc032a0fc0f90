import { readFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { requestWebhook } from "../../../engine/sandbox/telephone/phone-webhook.js";
import { bytesOf } from "../../../engine/sandbox/telephone/telephone-audio.js";
import { encodeSpeech } from "../../../engine/sandbox/telephone/tone-code.js";
import type { Attack } from "../attack.js";
import type { AttackedServer } from "../attacked-server.js";
import { requireSlots } from "../free-slots.js";
import { changePlan } from "../operator.js";
import { inRows } from "../rows.js";
import { callHostile } from "../vendors/hostile-call.js";
import { RawSocketClient } from "./raw-socket-client.js";
import { ringingCall, telephoneMessages } from "./telephone-messages.js";

const ROWS = 8;
/** The plan's calls at the same time; the rows are fewer. */
const STARTER_CALLS = 10;
const ROUND_EACH = 4;
const STORED_MAX_MS = 30_000;
/** What this process itself keeps open to ask again. */
const KEPT_ALIVE_MAX = 12;
/** As the kernel writes it: it listens, or it only waits for what may still be on its way. */
const NOT_HELD = new Set(["0A", "06"]);
const SPEECH = bytesOf(encodeSpeech("say one two three", 16_000));

/** A client that goes so far, and then is not there any more. */
type Vanishing = (server: AttackedServer) => Promise<void>;

/** How far a client gets before its connection is reset. */
const STATES: Readonly<Record<string, Vanishing>> = {
  "a connection without a word": (server) => vanishAfter(server, ""),
  "half a head": (server) => vanishAfter(server, "GET /api/plans HTTP/1.1\r\nhost: x\r\nx-"),
  "half a body": (server) => vanishAfter(server, `${chatHead(server, 500)}{"messages":[`),
  "a request whose answer is not waited for": (server) =>
    vanishAfter(server, "GET /api/plans HTTP/1.1\r\nhost: x\r\n\r\n"),
  "a streamed answer": (server) => {
    const body = JSON.stringify({ messages: [{ role: "user", content: "say a b c d e f" }] });
    return vanishAfter(server, chatHead(server, body.length) + body, /data:/);
  },
  "half an upgrade": (server) =>
    vanishAfter(server, `GET /ws/voice?api_key=${server.apiKey} HTTP/1.1\r\nupgrade: webs`),
  "an upgrade that is not waited for": async (server) => {
    const client = voiceClient(server);
    await sleep(1);
    client.reset();
  },
  "a socket before the call": async (server) => {
    const client = voiceClient(server);
    await client.until(() => client.isOpen);
    client.reset();
  },
  "a call that has begun": (server) => vanishInCall(server, "", false),
  "a caller in mid-word": (server) => vanishInCall(server, "", true),
  "a caller over streamed audio": (server) => vanishInCall(server, "&audio=stream", true),
  "a listener": async (server) => {
    const client = voiceClient(server);
    await client.until(() => client.audioCount > 0);
    client.reset();
  },
  "a client that stopped reading": async (server) => {
    const client = voiceClient(server);
    await client.until(() => client.texts.length > 0);
    client.stopReading();
    client.send(SPEECH.subarray(0, 32_000));
    await sleep(200);
    client.reset();
  },
  "a telephone that never streams": async (server) => {
    await requestWebhook(webhookOf(server), ringingCall());
  },
  "a telephone call": async (server) => {
    const { url, parameters } = await requestWebhook(webhookOf(server), ringingCall());
    const client = new RawSocketClient(url);
    await client.until(() => client.isOpen);
    for (const message of telephoneMessages(parameters).slice(0, 3)) {
      client.send(JSON.stringify(message));
    }
    await client.until(() => client.texts.length > 0);
    client.reset();
  },
};

export const VANISHING_CLIENTS: Attack = {
  name: "vanishing-clients",
  promise:
    "a client whose connection is reset in any state leaves nothing: no active call, no slot, no connection",
  weight: 4,
  sampleMs: 4_000,
  async run(stand, findings) {
    const server = await stand.server();
    // So few slots that a leak shows.
    await changePlan(server, "starter");
    const warmUp = await callHostile(server, server.demo.agentId ?? "");
    findings.demand(warmUp === "answered", `before all a caller was ${warmUp}`);
    const isIdle = async () => (await server.activeCount()) === 0;
    await stand.comesTrue(isIdle, STORED_MAX_MS);
    let count = 0;
    do {
      const each = stand.isSample ? 1 : ROUND_EACH;
      const round = Object.values(STATES).flatMap((vanish) =>
        Array.from({ length: each }, () => vanish),
      );
      await inRows(ROWS, round, (vanish) => vanish(server));
      count += round.length;
      findings.demand((await server.ask("GET", "/api/health")).status === 200, "not healthy");
      const areGone = stand.comesTrue(isIdle, STORED_MAX_MS);
      findings.demand(await areGone, "a call whose client is gone stays active");
    } while (!stand.isSample && stand.hasTime());
    if (connectionCount(server) === undefined) findings.skip("connections are counted on Linux");
    else {
      const isBack = () => (connectionCount(server) ?? 0) <= KEPT_ALIVE_MAX;
      const areClosed = stand.comesTrue(isBack, STORED_MAX_MS);
      findings.demand(await areClosed, "connections of clients that are gone stay open");
    }
    await requireSlots(server, STARTER_CALLS, findings);
    const fate = await callHostile(server, server.demo.agentId ?? "");
    findings.demand(fate === "answered", `afterwards a caller was ${fate}`);
    findings.tell(`${count} clients in ${Object.keys(STATES).length} states`);
  },
};

function chatHead({ apiKey, demo }: AttackedServer, lengthBytes: number): string {
  const path = `/api/dashboard/agents/${demo.agentId ?? ""}/chat`;
  const headers = `host: x\r\nx-api-key: ${apiKey}\r\ncontent-type: application/json`;
  return `POST ${path} HTTP/1.1\r\n${headers}\r\ncontent-length: ${lengthBytes}\r\n\r\n`;
}

/** Sends the bytes, and is gone once the answer is so far; at once without a pattern. */
async function vanishAfter({ port }: AttackedServer, bytes: string, enough = /^/): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  socket.on("error", () => undefined);
  await new Promise<void>((resolve) => {
    socket.once("connect", resolve);
    socket.once("close", () => resolve());
  });
  const isAnswered = answered(socket, enough);
  socket.write(bytes);
  await Promise.race([isAnswered, sleep(enough.test("") ? 5 : STORED_MAX_MS)]);
  socket.resetAndDestroy();
}

function answered(socket: Socket, enough: RegExp): Promise<void> {
  let text = "";
  return new Promise((resolve) => {
    socket.on("data", (part) => {
      text += part.toString();
      if (enough.test(text)) resolve();
    });
    socket.once("close", () => resolve());
  });
}

function voiceClient({ url, apiKey }: AttackedServer, query = ""): RawSocketClient {
  return new RawSocketClient(`${url.replace("http", "ws")}/ws/voice?api_key=${apiKey}${query}`);
}

async function vanishInCall(
  server: AttackedServer,
  query: string,
  isTalking: boolean,
): Promise<void> {
  const client = voiceClient(server, query);
  await client.until(() => client.texts.some((text) => text.includes("connected")));
  if (isTalking) client.send(SPEECH.subarray(0, 32_000));
  await sleep(isTalking ? 100 : 0);
  client.reset();
}

function webhookOf({ url, apiKey }: AttackedServer): string {
  return `${url}/api/telephony/voice?vendor=twilio&api_key=${apiKey}`;
}

/** Connections of clients that the server still has; undefined where the system does not say. */
function connectionCount({ port }: AttackedServer): number | undefined {
  try {
    const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
    const rows = readFileSync("/proc/net/tcp", "utf8").trim().split("\n").slice(1);
    return rows.filter((row) => {
      const [, at, , state = ""] = row.trim().split(/\s+/);
      return at?.endsWith(local) === true && !NOT_HELD.has(state);
    }).length;
  } catch {
    return undefined;
  }
}
