import { VOICE_PROTOCOL } from "../../../api/contract/voice-protocol.js";
import { requestWebhook } from "../../../engine/sandbox/telephone/phone-webhook.js";
import { SeededRandom } from "../../../test/simulation/seeded-random.js";
import type { Attack } from "../attack.js";
import type { AttackedServer } from "../attacked-server.js";
import type { Findings } from "../findings.js";
import { mutatedText, someBytes } from "../requests/mutations.js";
import { inRows } from "../rows.js";
import { callHostile } from "../vendors/hostile-call.js";
import { RawSocketClient } from "./raw-socket-client.js";
import { ringingCall, telephoneMessages } from "./telephone-messages.js";

const ROWS = 8;
const ROUND = 64;
const SAMPLE_ROUND = 24;
const FRAMES_MAX = 60;
const FRAME_BYTES_MAX = 70_000;
const STORED_MAX_MS = 30_000;
/** Those of the contract, and what WebSocket itself says of frames that are none, and of ends without a word. */
const CLOSE_CODES = new Set<number | undefined>([
  ...VOICE_PROTOCOL.closeCodes.map(({ code }) => code),
  1002,
  1005,
  1006,
  1007,
]);
const CLIENT_MESSAGES = [
  { type: "played", turnId: 1, ms: 240 },
  { type: "tools", names: ["show_order", "find_order"] },
  { type: "toolResult", id: 1, result: { items: [{ order: "12" }] } },
  { type: "toolResult", id: 1, error: "there is no such order" },
] as const;
const DOORS = ["web", "stream", "telephone", "unknown vendor"] as const;

export const FRAME_FUZZ: Attack = {
  name: "frame-fuzz",
  promise:
    "whatever comes over the voice sockets ends at most its own call, with a code of the contract; no call stays, and others are answered",
  weight: 8,
  sampleMs: 5_000,
  async run(stand, findings) {
    const server = await stand.server();
    let frames = 0;
    let connections = 0;
    do {
      const count = stand.isSample ? SAMPLE_ROUND : ROUND;
      // A connection has chance of its own, whatever the others do meanwhile.
      const seeds = Array.from({ length: count }, () => stand.random.whole(0, 2 ** 31));
      await inRows(ROWS, seeds, async (seed) => {
        const random = new SeededRandom(seed);
        frames += await pester(server, random.pick(DOORS), random, findings);
        connections += 1;
      });
    } while (!stand.isSample && stand.hasTime());
    const areGone = stand.comesTrue(async () => (await server.activeCount()) === 0, STORED_MAX_MS);
    findings.demand(await areGone, "a call stayed active after its client had gone");
    const fate = await callHostile(server, server.demo.agentId ?? "");
    findings.demand(fate === "answered", `afterwards a caller was ${fate}`);
    findings.tell(`${frames} frames over ${connections} connections`);
  },
};

interface Opened {
  readonly client: RawSocketClient;
  /** What an honest client says first, and then again and again. */
  readonly messages: readonly unknown[];
}

async function open(server: AttackedServer, door: (typeof DOORS)[number]): Promise<Opened> {
  const { url, apiKey } = server;
  const at = url.replace("http", "ws");
  if (door === "telephone") {
    const hook = `${url}/api/telephony/voice?vendor=twilio&api_key=${apiKey}`;
    const told = await requestWebhook(hook, ringingCall());
    const messages = telephoneMessages(told.parameters);
    return { client: new RawSocketClient(told.url), messages };
  }
  const paths = {
    web: `/ws/voice?api_key=${apiKey}`,
    stream: `/ws/voice?api_key=${apiKey}&audio=stream`,
    "unknown vendor": "/ws/telephony/stream/vonage?token=none",
  };
  return { client: new RawSocketClient(at + paths[door]), messages: CLIENT_MESSAGES };
}

/** One connection with frames of chance until it is closed, or the client goes without a word; says how many frames. */
async function pester(
  server: AttackedServer,
  door: (typeof DOORS)[number],
  random: SeededRandom,
  findings: Findings,
): Promise<number> {
  const { client, messages } = await open(server, door);
  await client.until(() => client.isOpen);
  // Half of them get so far that there is a call.
  if (random.chance(0.5)) {
    if (door === "telephone") for (const one of messages.slice(0, 2)) client.send(text(one));
    else if (door !== "unknown vendor") await client.until(() => client.texts.length > 0);
  }
  const count = random.whole(1, FRAMES_MAX);
  for (let n = 0; n < count && client.closeCode === undefined; n += 1) {
    sendSomething(client, messages, random);
    if (random.chance(0.2)) await new Promise(setImmediate);
  }
  // After bytes past all framing a good-bye may be the inside of a frame whose rest never comes.
  if (random.chance(0.5) && !client.isGarbled) client.close();
  else client.reset();
  const isClosed = await client.until(() => client.closeCode !== undefined);
  findings.demand(isClosed, `${door}: the connection stayed open`);
  const { closeCode } = client;
  findings.demand(CLOSE_CODES.has(closeCode), `${door}: closed with ${closeCode}`);
  client.reset();
  return count;
}

function text(message: unknown): string {
  return JSON.stringify(message);
}

function sendSomething(
  client: RawSocketClient,
  messages: readonly unknown[],
  random: SeededRandom,
): void {
  const dice = random.fraction();
  if (dice < 0.4) client.send(mutatedText(text(random.pick(messages)), random));
  else if (dice < 0.5) client.send(text(random.pick(messages)));
  else if (dice < 0.7) client.send(someBytes(random, random.chance(0.02) ? FRAME_BYTES_MAX : 700));
  else if (dice < 0.9) client.send(Buffer.alloc(random.whole(0, 3_200)));
  else if (dice < 0.99) client.ping(someBytes(random, 125));
  else client.write(someBytes(random, 200));
}
