import assert from "node:assert/strict";
import { test } from "node:test";
import { ended } from "../system/events.js";
import { barriers } from "./axe.js";
import { standOfFile } from "./browser-stand.js";
import { visitConsole } from "./console-visit.js";

const { server, browser } = await standOfFile();

test("a call is there when it begins, its words as they are said, and it is ended from its page", async () => {
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Good day." } });
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.getByRole("link", { name: "Calls", exact: true }).click();
  await page.getByRole("heading", { name: "No calls yet" }).waitFor();
  const caller = await server.call(customer);
  await page.getByText("In progress: 1").waitFor();
  await page.getByRole("link").filter({ hasText: "in progress" }).first().click();
  await page.getByRole("heading", { name: "Now" }).waitFor();
  if (!caller.events.some(ended)) await caller.until(ended);
  await caller.say("Count to 12.");
  const words = page.getByRole("log", { name: "What is said" });
  await words.getByText(/Count to 12/i).waitFor();
  await words.getByText(/Number 3/).waitFor();
  assert.deepEqual(await barriers(viewer), []);
  await caller.interrupt("Stop. What is my name?");
  await page.getByText(/cut off here by the caller/).waitFor();

  await page.getByRole("button", { name: "End the call" }).click();
  const asking = page.getByRole("dialog", { name: "End this call?" });
  assert.deepEqual(await barriers(viewer), []);
  await asking.getByRole("button", { name: "End the call" }).click();
  await page.getByText("The agent says goodbye").waitFor();
  await page.getByText("ended from the console").waitFor();
  const call = await server.endedCall(customer);
  assert.equal(call.metadata["endReason"], "organizationEnded");
  await page.getByRole("listitem").getByText("I have to end the call now").waitFor();
  assert.equal(await page.getByRole("heading", { name: "Now" }).count(), 0);
  assert.deepEqual(viewer.faults, []);
  await viewer.close();
});
