import assert from "node:assert/strict";
import { test } from "node:test";
import { ended } from "../system/events.js";
import { barriers } from "./axe.js";
import { standOfFile } from "./browser-stand.js";
import { visitConsole } from "./console-visit.js";
import { seedFailedCall } from "./seeded-calls.js";

const { server, browser } = await standOfFile();

test("usage is shown by agent and by API key, and can be saved as CSV", async () => {
  const customer = await server.customer();
  const agent = await server.agent(customer, { name: "Réception" });
  const caller = await server.call(customer);
  await caller.say("say yes");
  await caller.until(ended);
  await caller.hangUp();
  await server.endedCall(customer);
  const failedId = await seedFailedCall(server.database, customer, agent.id);
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.getByRole("link", { name: "Usage" }).click();
  await page.getByRole("rowheader", { name: "Réception" }).waitFor();
  const keys = page.getByRole("region", { name: "By key" });
  const { name } = (await server.tenancy.apiKeys.list(customer.tenant.organization.id))[0] ?? {
    name: "",
  };
  await keys.getByRole("rowheader", { name }).waitFor();
  const vendors = page.getByRole("region", { name: "By vendor" });
  await vendors
    .getByRole("row", { name: /openai LLM/ })
    .getByText("1 turn")
    .waitFor();
  const faults = vendors.getByRole("list", { name: "deepgram STT: faults" });
  await faults.getByText("nova-3: connection lost, 1 turn").waitFor();
  const link = faults.getByRole("link", { name: /last in the call of/ });
  assert.equal(await link.getAttribute("href"), `/console/calls/${failedId}`);
  const agents = page.getByRole("region", { name: "By agent" });
  await agents.getByText("STT failed").waitFor();
  await page.getByRole("button", { name: "p95" }).click();
  const saving = page.waitForEvent("download");
  await page.getByRole("button", { name: "CSV by agent" }).click();
  assert.equal((await saving).suggestedFilename(), "usage-by-agent.csv");
  assert.deepEqual(await barriers(viewer), []);
  await page.route("**/analytics/vendor-shares*", (route) =>
    route.fulfill({ status: 403, json: { error: "something went wrong", requestId: "req-1" } }),
  );
  await page.getByRole("button", { name: "90 days" }).click();
  await page.getByText("Usage by vendor could not be loaded. Something went wrong.").waitFor();
  assert.deepEqual(await barriers(viewer), []);
  assert.deepEqual(viewer.faults, []);
});
