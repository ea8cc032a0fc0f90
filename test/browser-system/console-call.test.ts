import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { barriers } from "./axe.js";
import { standOfFile } from "./browser-stand.js";
import { NOW_IN_SIGHT, visitConsole } from "./console-visit.js";
import { seedFailedCall, seedToldCall } from "./seeded-calls.js";

const { server, browser } = await standOfFile();

const LINES = 60;
const STARTED_AT_MS = Date.UTC(2026, 0, 31);

/** Both sides speak in turn, one second each; the second line followed a tool call. */
const CALL = {
  transcript: Array.from({ length: LINES }, (_, index) => ({
    role: index % 2 === 0 ? ("user" as const) : ("assistant" as const),
    text: `Line ${index} <b>&</b>`,
    timestamp: STARTED_AT_MS + index * 1_000,
  })),
  turns: [
    {
      turn: 1,
      kind: "reply",
      outcome: "played",
      endOfTurn: {
        reason: "maxEndpointingDelay",
        waitedMs: 1_500,
        waitedFor: "dictating",
        language: "de-DE",
        switchedFrom: "en-US",
      },
      bargeIns: [
        { action: "pause", reason: "voice", atMs: 400 },
        { action: "resume", reason: "backchannel", atMs: 600 },
        { action: "interrupt", reason: "words", atMs: 900 },
      ],
      tools: [
        {
          name: "book_table",
          input: '{"guests":4}',
          output: '{"ok":true,"status":200,"body":"<i>booked</i>"}',
          ok: true,
          ms: 120.4,
        },
      ],
      searchWaitMs: 30,
      searchWasLate: true,
    },
  ],
  metadata: { sttOutageMs: 6_400 },
  summary: { summary: "A table for four was booked.", sentiment: "positive" },
} as const;

test("a call's page shows its summary, the arguments of its tools, and their results", async () => {
  const customer = await server.customer();
  const agent = await server.agent(customer);
  const callId = await seedToldCall(server.database, customer, agent.id, CALL);
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.goto(`${server.url}/console/calls/${callId}`);
  await page.getByText("A table for four was booked.").first().waitFor();
  await page.getByText("positive", { exact: true }).waitFor();
  await page.getByText("For 6.4 s of this call STT returned nothing.").waitFor();
  const given = page.getByText('"guests": 4');
  assert.equal(await given.isVisible(), false, "the result is folded");
  await page.getByText("book_table answered after 120 ms").click();
  await given.waitFor();
  await page.getByText('"body": "<i>booked</i>"').waitFor();
  assert.deepEqual(await barriers(viewer), []);
  assert.deepEqual(viewer.faults, []);
});

test("a call's page shows why the caller's turn ended, and why the agent stopped or resumed, in both themes and on a phone", async () => {
  const customer = await server.customer();
  const agent = await server.agent(customer);
  const callId = await seedToldCall(server.database, customer, agent.id, CALL);
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.goto(`${server.url}/console/calls/${callId}`);
  for (const words of [
    "Caller’s turn over: nothing more came after a dictation, 1.5 s",
    "Language changed from American English to German (Germany)",
    "Paused: a voice",
    "Went on: backchannel",
    "Stopped: the caller spoke",
    "The search took too long; the answer was made without passages",
  ]) {
    await page.getByText(words, { exact: true }).waitFor();
  }
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width: 360, height: 740 });
    const isWide = await page.evaluate("document.documentElement.scrollWidth > innerWidth");
    assert.equal(isWide, false, `nothing is wider than a phone's screen (${colorScheme})`);
    assert.deepEqual(await barriers(viewer), []);
  }
  assert.deepEqual(viewer.faults, []);
});

test("a call's id can be copied, its transcript saved, and the list exported with its filters", async () => {
  const customer = await server.customer();
  const agent = await server.agent(customer, { name: "=Réception" });
  const callId = await seedToldCall(server.database, customer, agent.id, CALL);
  await seedFailedCall(server.database, customer, agent.id);
  const permissions = ["clipboard-read", "clipboard-write"];
  const viewer = await visitConsole(browser, server, customer, { permissions });
  const { page } = viewer;
  const savedBy = async (button: string) => {
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: button }).click(),
    ]);
    return { name: download.suggestedFilename(), text: await readFile(await download.path()) };
  };
  await page.goto(`${server.url}/console/calls/${callId}`);
  await page.getByRole("button", { name: "Copy ID" }).click();
  await page.getByRole("button", { name: "Copied" }).waitFor();
  assert.equal(await page.evaluate("navigator.clipboard.readText()"), callId);
  const transcript = await savedBy("Save transcript");
  assert.equal(transcript.name, `call-${callId}.txt`);
  const [first, second] = String(transcript.text).split("\n");
  assert.deepEqual(
    [first, second],
    ["0:00 Caller: Line 0 <b>&</b>", "0:01 Agent: Line 1 <b>&</b>"],
  );

  await page.goto(`${server.url}/console/calls?status=completed`);
  await page.getByText("1 call", { exact: true }).waitFor();
  const table = await savedBy("Export CSV");
  assert.equal(table.name, "calls.csv");
  const [head, row, ...rest] = String(table.text).trim().split("\r\n");
  assert.match(head ?? "", /^startedAt,id,agent,/);
  assert.ok(
    row?.includes(`"${callId}","'=Réception"`),
    "no spreadsheet interprets a name as a formula",
  );
  assert.deepEqual(rest, [], "the failed call is filtered out");
  assert.deepEqual(viewer.faults, []);
});

test("a failed call's page shows which vendor failed and why, and which key opened it", async () => {
  const customer = await server.customer();
  const agent = await server.agent(customer);
  const callId = await seedFailedCall(server.database, customer, agent.id);
  await server.database.calls.annotate(callId, { apiKeyId: customer.apiKeyId });
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.goto(`${server.url}/console/calls/${callId}`);
  await page.getByText("This call failed: STT failed.").waitFor();
  const why = "STT failed: deepgram nova-3: connection lost, which cost 1.2 s";
  await page.getByText(`In its last turn: ${why}, and no fallback was left.`).waitFor();
  await page.getByRole("term").filter({ hasText: "API key" }).waitFor();
  const keys = await server.database.apiKeys.list(customer.tenant.organization.id);
  await page
    .getByRole("definition")
    .filter({ hasText: keys[0]?.name ?? "" })
    .first()
    .waitFor();
  assert.deepEqual(await barriers(viewer), []);
  await page.getByRole("link", { name: "Test the provider" }).click();
  await page.getByRole("heading", { level: 1, name: "Providers" }).waitFor();
  assert.deepEqual(viewer.faults, []);
});

test("a link to a moment scrolls to its turn, and a click on another moment to that one", async () => {
  const customer = await server.customer();
  const agent = await server.agent(customer);
  const callId = await seedToldCall(server.database, customer, agent.id, CALL);
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.goto(`${server.url}/console/calls/${callId}?t=41.2`);
  const now = page.locator(".turn[aria-current=true]");
  await now.getByText("Line 41 <b>").waitFor();
  await page.waitForFunction(NOW_IN_SIGHT);
  await page.getByRole("button", { name: "Go to 0:03" }).click();
  await now.getByText("Line 3 <b>").waitFor();
  await page.waitForFunction(NOW_IN_SIGHT);
  assert.match(page.url(), /[?&]t=3\.0/);
  assert.deepEqual(viewer.faults, []);
});
