import assert from "node:assert/strict";
import { test } from "node:test";
import { ended } from "../system/events.js";
import { barriers } from "./axe.js";
import { standOfFile } from "./browser-stand.js";
import { visitConsole } from "./console-visit.js";

const { server, browser } = await standOfFile();

test("usage is shown by agent and by the key that a call came with, and can be saved as a table", async () => {
  const customer = await server.customer();
  await server.agent(customer, { name: "Réception" });
  const caller = await server.call(customer);
  await caller.say("say yes");
  await caller.until(ended);
  await caller.hangUp();
  await server.endedCall(customer);
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.getByRole("link", { name: "Usage" }).click();
  await page.getByRole("rowheader", { name: "Réception" }).waitFor();
  const keys = page.getByRole("region", { name: "By key" });
  const { name } = (await server.tenancy.apiKeys.list(customer.tenant.organization.id))[0] ?? {
    name: "",
  };
  await keys.getByRole("rowheader", { name }).waitFor();
  const saving = page.waitForEvent("download");
  await page.getByRole("button", { name: "CSV by agent" }).click();
  assert.equal((await saving).suggestedFilename(), "usage-by-agent.csv");
  assert.deepEqual(await barriers(viewer), []);
  assert.deepEqual(viewer.faults, []);
});
