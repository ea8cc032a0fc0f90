import assert from "node:assert/strict";
import { test } from "node:test";
import { ended } from "../system/events.js";
import { eventually } from "../system/eventually.js";
import { barriers } from "./axe.js";
import { standOfFile } from "./browser-stand.js";
import { visitConsole } from "./console-visit.js";

const { server, browser } = await standOfFile();

test("a call is listed when it begins, shows its words as they are said, and can be ended from its page", async () => {
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Good day." } });
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.getByRole("link", { name: "Calls", exact: true }).click();
  await page.getByRole("heading", { name: "No calls yet" }).waitFor();
  assert.deepEqual(await barriers(viewer), []);
  const caller = await server.call(customer);
  await page.getByText("In progress: 1").waitFor();
  const row = page.locator(".calls").getByRole("link").filter({ hasText: "in progress" });
  await row.waitFor();
  assert.equal(await row.count(), 1, "it is in one list only");
  await row.click();
  await page.getByRole("heading", { name: "Now" }).waitFor();
  if (!caller.events.some(ended)) await caller.until(ended);
  await page.route("**/events", (route) => route.abort());
  await page.reload();
  await page.getByText("Live words are not available here.").waitFor();
  await page.unroute("**/events");
  await page.getByText("The next words appear here.").waitFor();
  await caller.say("Count to 100.");
  const words = page.getByRole("log", { name: "What is said" });
  await words.getByText(/Count to 100/i).waitFor();
  await words.getByText(/Number 3/).waitFor();
  await page.reload();
  await words.getByText(/Count to 100/i).waitFor();
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
  const summary = await eventually("the summary", async () => {
    const { id: orgId } = customer.tenant.organization;
    return (await server.database.calls.findById(orgId, call.id))?.summary ?? undefined;
  });
  await page.getByText(summary, { exact: true }).waitFor();
  assert.deepEqual(viewer.faults, []);
  await viewer.close();
});

test("a user speaks through the agent, sends a note to its LLM, mutes it and listens to the call", async () => {
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Good day." } });
  const caller = await server.call(customer);
  if (!caller.events.some(ended)) await caller.until(ended);
  const [call] = await server.calls(customer);
  assert.ok(call);
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.goto(`${server.url}/console/calls/${call.id}`);
  const control = page.getByRole("region", { name: "Live control" });
  await control.getByRole("textbox", { name: "The agent says" }).fill("We close soon.");
  await control.getByRole("button", { name: "Say it" }).click();
  await page.getByRole("listitem").getByText("We close soon.").waitFor();
  await control
    .getByRole("textbox", { name: "Note for the LLM" })
    .fill("A parcel waits in Berlin.");
  await control.getByRole("button", { name: "Add the note" }).click();
  await control.getByText("The LLM has the note.").waitFor();
  await control.getByRole("button", { name: "Mute the agent" }).click();
  await control.getByText("The agent hears the caller and says nothing.").waitFor();
  assert.deepEqual(await barriers(viewer), []);
  await page.reload();
  await control.getByRole("button", { name: "Unmute the agent" }).click();
  await control.getByRole("button", { name: "Mute the agent" }).waitFor();
  await control.getByRole("button", { name: "Listen in" }).click();
  await control.getByText("You hear the caller on the left").waitFor();
  await caller.say("Where waits the parcel?");
  await page.getByRole("listitem").getByText("A parcel waits in Berlin.").waitFor();
  await control.getByRole("button", { name: "Stop listening" }).click();
  await control.getByRole("button", { name: "Listen in" }).waitFor();
  await caller.hangUp();
  await server.endedCall(customer);
  await control.waitFor({ state: "detached" });
  assert.deepEqual(viewer.faults, []);
  await viewer.close();
});
