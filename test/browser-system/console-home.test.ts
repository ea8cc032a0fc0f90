import assert from "node:assert/strict";
import { test } from "node:test";
import { ended } from "../system/events.js";
import { barriers } from "./axe.js";
import { standOfFile } from "./browser-stand.js";
import { visitConsole } from "./console-visit.js";
import { seedCalls, seedFailedCall } from "./seeded-calls.js";

const { server, browser } = await standOfFile();

test("a new organization sees a guide of what it has and lacks, each step links to its page, and the guide can be dismissed", async () => {
  const customer = await server.customer();
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  const guide = page.getByRole("region", { name: "Get started" });
  const doneCount = () => guide.getByLabel("Done").count();
  await guide.getByText("1 of 6 done").waitFor();
  assert.equal(await doneCount(), 1, "the server has vendors' keys");
  for (const [link, address] of [
    ["Choose a template", "/start"],
    ["Voices", "/start"],
    ["Talk to an agent", "/talk"],
    ["Numbers", "/numbers"],
    ["Web page", "/start"],
  ] as const) {
    const href = await guide.getByRole("link", { name: link }).getAttribute("href");
    assert.equal(href, `/console${address}`);
  }
  assert.deepEqual(await barriers(viewer), []);

  const { id } = await server.agent(customer, {
    name: "Desk",
    allowedOrigins: ["https://a.example"],
  });
  await page.reload();
  await guide.getByText("3 of 6 done").waitFor();
  await guide.getByRole("link", { name: "Voices" }).click();
  await page.getByRole("heading", { level: 2, name: "Voice (TTS)" }).waitFor();
  await page.getByRole("radio", { name: "Alloy" }).check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Saved.").waitFor();
  await seedCalls(server.database, customer, id, 1);
  await page.getByRole("link", { name: "Home" }).click();
  await guide.getByText("5 of 6 done").waitFor();
  assert.equal(await guide.getByRole("link").count(), 1, "only steps that are left have a link");

  await guide.getByRole("button", { name: "Dismiss the guide" }).click();
  await guide.waitFor({ state: "detached" });
  await page.reload();
  await page.getByRole("heading", { name: "Latest calls" }).waitFor();
  assert.equal(await guide.count(), 0);
  assert.deepEqual(viewer.faults, []);
});

test("Home shows calls and latency by day, calls in progress with their last words, and what needs attention", async () => {
  const customer = await server.customer();
  const { id } = await server.agent(customer, {
    name: "Front desk",
    persona: { greeting: "Good day." },
  });
  const caller = await server.call(customer);
  if (!caller.events.some(ended)) await caller.until(ended);
  await caller.say("my name is Ada");
  await caller.until(ended);
  await caller.hangUp();
  await seedFailedCall(server.database, customer, id);
  const live = await server.call(customer);
  if (!live.events.some(ended)) await live.until(ended);
  await live.say("my name is Grace");
  await live.until(ended);
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.getByRole("img", { name: /^Calls by day\. / }).waitFor();
  await page.getByRole("img", { name: /^Latency by day\. .*p50 .*, p95 / }).waitFor();
  const now = page.getByRole("listitem").filter({ hasText: "Front desk with a browser" });
  await now.getByText(/^Agent: .*Grace/).waitFor();
  await page.getByRole("heading", { name: "Calls that need attention" }).waitFor();
  await page.getByText("STT failed").first().waitFor();
  await page.getByRole("heading", { name: "Latest calls" }).waitFor();
  await page.getByRole("link", { name: "OpenAI", exact: true }).waitFor();
  assert.deepEqual(await barriers(viewer), []);
  await live.hangUp();
  await now.waitFor({ state: "detached" });
  await page.getByRole("link", { name: "Show all" }).last().click();
  await page.getByText("3 calls").waitFor();
  assert.deepEqual(viewer.faults, []);
});
