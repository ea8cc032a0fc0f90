import { createServer } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import * as v from "valibot";
import { Caller } from "../../../engine/sandbox/caller.js";

/**
 * Everything that one organization can do at once, as a process of its own: URL, API_KEY, PORT of its services, and the agents that
 * its calls use one after the other. Prints a line for each call that it loses.
 */
const environment = v.parse(
  v.object({
    URL: v.string(),
    API_KEY: v.string(),
    AGENT_IDS: v.string(),
    PORT: v.string(),
    CALLERS: v.string(),
    TOOL_NAMES: v.string(),
  }),
  process.env,
);
const { URL: url, API_KEY: apiKey } = environment;
const agentIds = environment.AGENT_IDS.split(",");
const count = Number(environment.CALLERS);
const RAMP_MS = 5_000;
const REPLY_MAX_MS = 15_000;
/** Every nth call has a long streamed reply instead, which is converted piece by piece. */
const LONG_EVERY = 5;
const ANSWER = JSON.stringify({ text: "x".repeat(16 * 1_024) });
/** As many unfinished bodies as fill the organization's share of them. */
const BODIES = 17;
const BODY_BYTES = 1024 * 1024;
/** Before the server gives an unfinished body up. */
const BODIES_EVERY_MS = 25_000;

// A request of `/quick` is answered with as much as a model reads, and one of `/silent` never.
const services = createServer((request, response) => {
  if (request.url === "/quick") response.end(ANSWER);
});
await new Promise<void>((resolve) => {
  services.listen(Number(environment.PORT), "0.0.0.0", resolve);
});

async function talk(index: number): Promise<void> {
  await sleep((index * RAMP_MS) / count);
  const agentId = agentIds[index % agentIds.length] ?? "";
  const caller = await Caller.connect({
    url,
    apiKey,
    agentId,
    keepsAudio: false,
    stream: "mulaw",
  });
  for (;;) {
    await caller.say(index % LONG_EVERY === 0 ? "count to 500" : environment.TOOL_NAMES);
    await caller.until(({ type }) => type === "audio", REPLY_MAX_MS).catch(() => undefined);
    await sleep(index % LONG_EVERY === 0 ? REPLY_MAX_MS : 0);
  }
}

async function holdBodies(): Promise<void> {
  const { hostname, port } = new URL(url);
  const head = [
    "POST /api/dashboard/agents HTTP/1.1",
    `host: ${hostname}`,
    `x-api-key: ${apiKey}`,
    `content-length: ${BODY_BYTES}`,
  ].join("\r\n");
  for (;;) {
    for (let n = 0; n < BODIES; n += 1) {
      const socket = connect(Number(port), hostname);
      socket.on("error", () => undefined);
      socket.write(`${head}\r\n\r\n`);
      socket.write(Buffer.alloc(BODY_BYTES - 1));
    }
    await sleep(BODIES_EVERY_MS);
  }
}

console.log("ready");
void holdBodies();
for (let index = 0; index < count; index += 1) {
  talk(index).catch((error: unknown) => {
    console.log(`lost ${error instanceof Error ? error.message : "without a reason"}`);
  });
}
