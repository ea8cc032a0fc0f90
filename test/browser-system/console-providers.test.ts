import assert from "node:assert/strict";
import { test } from "node:test";
import { ended } from "../system/events.js";
import { OWN_VENDORS_ALLOWED, OwnVendors } from "../system/own-vendors.js";
import { MODELS } from "../system/test-server.js";
import { barriers } from "./axe.js";
import { standOfFile } from "./browser-stand.js";
import { visitConsole } from "./console-visit.js";

const { server, browser } = await standOfFile({ environment: OWN_VENDORS_ALLOWED });

test("a card says how it stands with a vendor, what went wrong last, and whose agents it is for", async (context) => {
  const providerId = await server.providerId("llm", "groq");
  const fallbacks = { llm: [{ providerId, modelId: MODELS.llm.groq }], tts: [], stt: [] };
  const faults = { openai: { fault: "unauthorized" } } as const;
  const own = await OwnVendors.of(server, context, { faults, agent: { fallbacks } });
  const caller = await own.call();
  await caller.say("say yes");
  await caller.until(ended);
  await caller.hangUp();

  const viewer = await visitConsole(browser, server, own.customer);
  const { page } = viewer;
  await page.getByRole("link", { name: "Providers" }).click();
  const failed = page.getByRole("article").filter({ hasText: "calls go to their fallbacks" });
  await failed.getByText("Last fault: it refused the key").waitFor();
  await failed.getByText("Used by Reception").waitFor();
  const standIn = page.getByRole("article").filter({ hasText: "Stands in for Reception" });
  await standIn.getByText("active").first().waitFor();
  assert.equal(await standIn.getByText("Last fault").count(), 0);
  assert.deepEqual(await barriers(viewer), []);
  assert.deepEqual(viewer.faults, []);
});
