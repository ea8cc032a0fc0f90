import assert from "node:assert/strict";
import { test } from "node:test";
import { barriers } from "./axe.js";
import { standOfFile } from "./browser-stand.js";
import { visitConsole } from "./console-visit.js";

const { server, browser } = await standOfFile({
  environment: { NODE_ENV: "development", SANDBOX: "on", SANDBOX_VOICE: "speech" },
});
/** Runs before the page's own script: records whether it asks for a microphone. */
const WATCHED_MICROPHONE = `{
  globalThis.hasAskedForMicrophone = false;
  navigator.mediaDevices.getUserMedia = () => {
    globalThis.hasAskedForMicrophone = true;
    return new Promise(() => undefined);
  };
}`;

/** A call's record before any of its turns is over. */
const UNSTORED = {
  _id: "a-call",
  agentId: "an-agent",
  channel: "web",
  status: "active",
  transcript: [],
  metrics: { turnCount: 0, interruptions: 0, avgLatencyMs: 0 },
  startedAt: "2026-11-27T12:00:00.000Z",
};

test("with a simulated STT, Talk says so first, asks for no microphone, and replies to typed text", async () => {
  const customer = await server.customer();
  await server.agent(customer);
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.addInitScript(WATCHED_MICROPHONE);
  await page.goto(`${server.url}/console/talk`);
  await page.getByText("You type and the agent answers by voice").waitFor();
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByText("Listening", { exact: true }).waitFor();
  const focused = await page.evaluate(`document.activeElement.getAttribute("aria-label")`);
  assert.equal(focused, "Type to the agent");
  await page.keyboard.type("My name is Ada.");
  await page.keyboard.press("Enter");
  const words = page.getByRole("log", { name: "What is said" });
  await words.getByText("Nice to meet you, Ada.").waitFor();
  assert.equal(await page.evaluate("hasAskedForMicrophone"), false);
  assert.deepEqual(await barriers(viewer), []);
  assert.deepEqual(viewer.faults, []);
});

test("the newest wait has its bar at once, and its parts when the turn is stored", async () => {
  const customer = await server.customer();
  await server.agent(customer);
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  let isHeldBack = true;
  await page.route("**/api/dashboard/calls/*", (route) =>
    isHeldBack ? route.fulfill({ json: UNSTORED }) : route.continue(),
  );
  await page.goto(`${server.url}/console/talk`);
  await page.getByRole("button", { name: "Start" }).click();
  await page.getByText("Listening", { exact: true }).waitFor();
  await page.keyboard.type("My name is Ada.");
  await page.keyboard.press("Enter");
  const bar = page.locator(".waterfall").last();
  await bar.getByText("waited").waitFor();
  assert.equal(await bar.getByText("first sentence").count(), 0);
  await assertSameWait(page);
  isHeldBack = false;
  await bar.getByText("first sentence").waitFor();
  assert.equal(await page.locator(".waterfall").count(), 1);
  await assertSameWait(page);
  assert.deepEqual(await barriers(viewer), []);
  assert.deepEqual(viewer.faults, []);
});

/** The sentence above the words and the last bar name the same wait. */
async function assertSameWait(page: Awaited<ReturnType<typeof visitConsole>>["page"]) {
  const waited = await page.locator(".waterfall .total dd").last().textContent();
  const sentence = await page.getByText(/^You waited /).textContent();
  assert.equal(sentence, `You waited ${waited} for the last reply.`);
}

test("nothing of a simulated vendor looks like a real one: no dot is green, and a test says what answered", async () => {
  const customer = await server.customer();
  await server.agent(customer);
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  const inUse = page.locator(".dots");
  await inUse.getByText("simulated").first().waitFor();
  assert.equal(await inUse.locator(".good").count(), 0);
  await page.goto(`${server.url}/console/providers`);
  const card = page.getByRole("article").filter({ hasText: "OpenAI speech" });
  await card.getByText("simulated", { exact: true }).waitFor();
  assert.equal(await page.locator(".provider .good").count(), 0);
  await card.getByRole("button", { name: "Test" }).click();
  await card.getByText(/^Simulated: it answered in /).waitFor();
  assert.deepEqual(await barriers(viewer), []);
  assert.deepEqual(viewer.faults, []);
});

test("Talk has fields for a call's variables", async () => {
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Welcome back, {{firstName|stranger}}." } });
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.goto(`${server.url}/console/talk`);
  await page.getByText("Test values").click();
  await page.getByLabel("firstName").fill("Ada");
  await page.getByRole("button", { name: "Start" }).click();
  const words = page.getByRole("log", { name: "What is said" });
  await words.getByText("Welcome back, Ada.").waitFor();
  assert.deepEqual(await barriers(viewer), []);
  assert.deepEqual(viewer.faults, []);
});

test("a user can play the called person in the sandbox by typing", async () => {
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Good day." } });
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  const refused: string[] = [];
  page.on("response", (response) => {
    if (response.status() >= 400) refused.push(`${response.status()} ${response.url()}`);
  });
  await page.goto(`${server.url}/console/numbers`);
  await page.getByLabel("Number to call").fill("+15550101234");
  await page.getByLabel("From", { exact: true }).fill("+15550109999");
  await page.getByLabel("I answer this call myself, by typing").check();
  await page.getByRole("button", { name: "Place the call" }).click();
  await page.getByText("you play the person who was called").waitFor();
  await page.keyboard.type("My name is Grace.");
  await page.keyboard.press("Enter");
  await page.getByText("Nice to meet you, Grace", { exact: false }).first().waitFor();
  assert.deepEqual(await barriers(viewer), []);
  await page.getByRole("button", { name: "End the call" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "End the call" }).click();
  await page.getByText("ended from the console").waitFor();
  await page.getByText("This call was not recorded").waitFor();
  await page.getByText("LLM, TTS, STT", { exact: true }).waitFor();
  assert.equal(await page.getByLabel("What the person says").count(), 0);
  assert.deepEqual(refused, []);
  assert.deepEqual(viewer.faults, []);
});
