import assert from "node:assert/strict";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import * as v from "valibot";
import type { PhoneCallerEvent } from "../../engine/sandbox/telephone/phone-caller.js";
import type { TwilioSimulator } from "../../engine/sandbox/telephone/twilio-simulator.js";
import { eventually } from "./eventually.js";
import { SimulatedVendor } from "./public-entrance.js";
import { ServerProcess } from "./server-process.js";
import { TwilioStand } from "./twilio-stand.js";

const FROM = "+15550109999";
/** The simulated vendor goes by the last digits. */
const BUSY = "+4930100001";
const MACHINE = "+4930100004";
const NEVER_ANSWERS = "+4930100005";
const UNWANTED = "+4930102000";
const ANSWERS = "+4930103000";
const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const HOUR_MS = 60 * 60 * 1_000;

const Demo = v.object({ apiKey: v.string(), agentId: v.string() });
const List = v.object({ id: v.string(), state: v.string() });
const Held = v.object({
  hold: v.nullable(v.object({ reason: v.string(), since: v.string(), retryAt: v.string() })),
});
const Rows = v.object({
  rows: v.array(
    v.object({
      to: v.string(),
      state: v.string(),
      attempts: v.number(),
      reason: v.nullable(v.string()),
      lastCallId: v.nullable(v.string()),
    }),
  ),
});

/** The same server with the same data, as often as it is started. */
async function serverOn(
  dataDir: string,
  stand: TwilioStand,
  environment: Readonly<Record<string, string>> = {},
) {
  const server = await ServerProcess.start({
    ...stand.environment,
    ...environment,
    NODE_ENV: "development",
    SANDBOX: "on",
    HOST: "127.0.0.1",
    PORT: "0",
    // The tests look often.
    REQUESTS_PER_MINUTE: "100000",
    DATA_DIR: dataDir,
    JWT_SECRET: "j".repeat(32),
    ENCRYPTION_KEY: "5a".repeat(32),
  });
  await stand.leadTo(Number(new URL(server.url).port));
  const demo = v.parse(Demo, JSON.parse(await readFile(join(dataDir, "demo.json"), "utf8")));
  const request = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${server.url}/api/dashboard${path}`, {
      method,
      headers: { "x-api-key": demo.apiKey, "content-type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    assert.ok(response.ok, `${method} ${path}: ${text}`);
    return JSON.parse(text);
  };
  const rows = async (id: string) =>
    v.parse(Rows, await request("GET", `/call-lists/${id}/rows`)).rows;
  const state = async (id: string) =>
    v.parse(List, await request("GET", `/call-lists/${id}`)).state;
  return { server, agentId: demo.agentId, request, rows, state };
}

test("a list is called to its end over a kill -9 in its middle, and nobody is called twice", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-call-list-"));
  const stand = await TwilioStand.start();
  t.after(async () => {
    stand.close();
    await rm(dataDir, { recursive: true });
  });
  const first = await serverOn(dataDir, stand);
  t.after(() => first.server.signal("SIGKILL"));
  await first.request("POST", "/do-not-call", { numbers: [UNWANTED] });
  const people = [BUSY, MACHINE, NEVER_ANSWERS, UNWANTED, ANSWERS];
  const list = v.parse(
    List,
    await first.request("POST", "/call-lists", {
      name: "Reminders",
      agentId: first.agentId,
      from: FROM,
      callsMax: 1,
      windows: [{ days: DAYS, from: "00:00", to: "24:00" }],
      csv: `to,firstName\n${people.map((number) => `${number},Ada`).join("\n")}\n`,
    }),
  );
  assert.equal(list.state, "ready");
  await first.request("POST", `/call-lists/${list.id}/start`);
  await stand.of(NEVER_ANSWERS, "the ringing of the one who never answers", (call) => call);
  const outcomes = async ({ rows }: Pick<typeof first, "rows">) =>
    (await rows(list.id)).map(({ state, attempts, reason }) => [state, attempts, reason]);
  assert.deepEqual((await outcomes(first)).slice(0, 2), [
    ["failed", 1, "busy"],
    ["failed", 1, "machine"],
  ]);
  first.server.signal("SIGKILL");
  await first.server.exited();

  const next = await serverOn(dataDir, stand);
  t.after(() => next.server.signal("SIGKILL"));
  const caller = await stand.of(ANSWERS, "the answer", (call) => call.caller);
  // One who hangs up before the agent has the call was not talked to.
  const isAudio = ({ type }: PhoneCallerEvent) => type === "audio";
  if (!caller.events.some(isAudio)) await caller.until(isAudio);
  await caller.hangUp();
  await eventually("the list is completed", async () =>
    (await next.state(list.id)) === "completed" ? true : undefined,
  );
  assert.deepEqual(await outcomes(next), [
    ["failed", 1, "busy"],
    ["failed", 1, "machine"],
    ["failed", 1, "the server stopped before the placed call reached its agent"],
    ["skipped", 0, "doNotCall"],
    ["completed", 1, "callerLeft"],
  ]);
  assert.deepEqual(
    stand.simulator.calls.map(({ form }) => form.get("To")),
    [BUSY, MACHINE, NEVER_ANSWERS, ANSWERS],
    "each of the four once, and the unwanted one never",
  );
  const called = (await next.rows(list.id)).at(-1);
  const call = v.parse(
    v.object({ metadata: v.record(v.string(), v.unknown()), startedAt: v.string() }),
    await next.request("GET", `/calls/${String(called?.lastCallId)}`),
  );
  assert.deepEqual(call.metadata["variables"], { firstName: "Ada" });
  assert.ok(Date.now() - Date.parse(call.startedAt) < HOUR_MS);
  next.server.signal("SIGTERM");
  assert.equal(await next.server.exited(), 0);
});

/** The vendor accepts the order that comes first, and its reply gets lost; later ones arrive. */
async function losingOneReply(simulator: TwilioSimulator): Promise<SimulatedVendor> {
  let orders = 0;
  return SimulatedVendor.start({
    handleRequest: async (exchange) => {
      const isOrder = exchange.url.pathname.endsWith("/Calls.json");
      if (isOrder) orders += 1;
      if (!isOrder || orders > 1) return simulator.handleRequest(exchange);
      const taken = simulator.handleRequest(exchange);
      // The order has been read by now, and the reply is not written yet.
      exchange.answerJson = () => {
        exchange.request.socket.destroy();
      };
      await taken;
    },
  });
}

test("a person whose order the vendor accepted, and whose reply was lost, is called once, and the list waits until it is resumed", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-call-list-"));
  const stand = await TwilioStand.start();
  // The server misses the reply before the vendor reports on the call.
  stand.faults.twilio = { ringMs: 1_000 };
  const losing = await losingOneReply(stand.simulator);
  t.after(async () => {
    losing.close();
    stand.close();
    await rm(dataDir, { recursive: true });
  });
  const parley = await serverOn(dataDir, stand, { TWILIO_BASE_URL: losing.url });
  t.after(() => parley.server.signal("SIGKILL"));
  const people = ["+4930100001", "+4930110001", "+4930120001"];
  const rule = { times: 5, afterMinutes: 1 };
  const list = v.parse(
    List,
    await parley.request("POST", "/call-lists", {
      name: "Reminders",
      agentId: parley.agentId,
      from: FROM,
      callsMax: 1,
      windows: [{ days: DAYS, from: "00:00", to: "24:00" }],
      retries: { noAnswer: rule, failed: rule },
      csv: `to\n${people.join("\n")}\n`,
    }),
  );
  await parley.request("POST", `/call-lists/${list.id}/start`);
  const hold = await eventually("the list says why it waits", async () => {
    const found = v.parse(Held, await parley.request("GET", `/call-lists/${list.id}`));
    return found.hold ?? undefined;
  });
  assert.equal(
    hold.reason,
    "the telephony vendor did not reply to an order, or does not say whether it calls",
  );
  assert.ok(Date.parse(hold.retryAt) - Date.parse(hold.since) >= 10_000);
  await parley.request("POST", `/call-lists/${list.id}/resume`);
  await eventually("the list is completed", async () =>
    (await parley.state(list.id)) === "completed" ? true : undefined,
  );
  assert.deepEqual(
    (await parley.rows(list.id)).map(({ state, attempts, reason }) => [state, attempts, reason]),
    people.map(() => ["failed", 1, "busy"]),
  );
  assert.deepEqual(
    stand.simulator.calls.map(({ form }) => form.get("To")),
    people,
  );
});
