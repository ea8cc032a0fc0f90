import assert from "node:assert/strict";
import { test } from "node:test";
import { Webhook } from "standardwebhooks";
import * as v from "valibot";
import { WebhookReceiver } from "../doubles/webhook-receiver.js";
import { ended } from "../system/events.js";
import { eventually } from "../system/eventually.js";
import { barriers } from "./axe.js";
import { standOfFile } from "./browser-stand.js";
import { visitConsole } from "./console-visit.js";

const { server, browser } = await standOfFile({
  environment: { ALLOW_PRIVATE_PROVIDERS: "true" },
});
const NAME = "CRM <b>مكتب</b>";

test("an endpoint can be added, tested, changed, given a new secret, and removed", async (context) => {
  const receiver = await WebhookReceiver.open();
  context.after(() => receiver.close());
  receiver.answer = (response) => void response.writeHead(200).end("thanks <b>");
  const customer = await server.customer();
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("link", { name: "Webhooks" }).click();
  await page.getByRole("heading", { name: "No webhook endpoint yet" }).waitFor();
  await page.getByRole("button", { name: "New endpoint" }).click();
  const form = page.getByRole("dialog", { name: "New endpoint" });
  await form.getByLabel("Name").fill(NAME);
  const url = form.getByLabel("URL");
  await url.fill("ftp://example.com");
  await form.getByRole("button", { name: "Add the endpoint" }).click();
  await url.and(page.locator("[aria-invalid]")).waitFor();
  assert.deepEqual(await barriers(viewer), []);
  await url.fill(receiver.url);
  await form.getByLabel("call.ended", { exact: true }).uncheck();
  await form.getByLabel("call.failed", { exact: true }).uncheck();
  const add = form.getByRole("button", { name: "Add the endpoint" });
  assert.equal(await add.isDisabled(), true, "an endpoint without events is refused");
  await form.getByLabel("call.started", { exact: true }).check();
  await add.click();
  const shown = page.getByRole("dialog", { name: "The secret of the endpoint" });
  const secret = (await shown.locator("code").textContent()) ?? "";
  await shown.getByRole("button", { name: "Done" }).click();
  assert.ok(!(await page.content()).includes(secret), "it is shown once");
  await page.getByRole("cell", { name: "call.started", exact: true }).waitFor();
  assert.deepEqual(await barriers(viewer), []);

  await page.getByRole("link", { name: NAME }).click();
  await page.getByRole("heading", { name: "Nothing was sent yet" }).waitFor();
  await page.getByRole("button", { name: "Test" }).click();
  await page.getByText(/The test was acknowledged: 200 in/).waitFor();
  const [delivery] = receiver.received;
  assert.ok(delivery);
  new Webhook(secret).verify(delivery.body, delivery.headers);
  await page.locator("summary").filter({ hasText: "Answer" }).click();
  await page.getByText("thanks <b>", { exact: true }).waitFor();
  assert.deepEqual(await barriers(viewer), []);

  await page.getByRole("button", { name: "New secret" }).click();
  await page.getByRole("button", { name: "Make a new secret" }).click();
  const rotated = page.getByRole("dialog", { name: "The new secret" });
  const next = (await rotated.locator("code").textContent()) ?? "";
  assert.notEqual(next, secret);
  await rotated.getByRole("button", { name: "Done" }).click();

  await page.getByRole("button", { name: "Change" }).click();
  await page.getByLabel("tool.completed", { exact: true }).check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("call.started, tool.completed", { exact: true }).waitFor();

  await page.getByRole("button", { name: "Remove" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByRole("heading", { name: "No webhook endpoint yet" }).waitFor();
  assert.deepEqual(viewer.faults, []);
});

test("a delivery can be resent, events can be replayed, and a failing endpoint shows why", async (context) => {
  const receiver = await WebhookReceiver.open();
  context.after(() => receiver.close());
  const customer = await server.customer();
  await server.agent(customer, { persona: { greeting: "Good day." } });
  const created = await fetch(`${server.url}/api/dashboard/webhooks`, {
    method: "POST",
    headers: { "x-api-key": customer.apiKey, "content-type": "application/json" },
    body: JSON.stringify({ name: NAME, url: receiver.url, eventTypes: ["call.started"] }),
  });
  const { id } = v.parse(v.object({ id: v.string() }), await created.json());
  const caller = await server.call(customer);
  await caller.until(ended);
  await caller.hangUp();
  await eventually("the delivery", () => receiver.received[0]);

  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.goto(`${server.url}/console/settings/webhooks/${id}`);
  await page.getByText(/204 in/).waitFor();
  await page.getByRole("button", { name: "Resend call.started" }).click();
  await eventually("it again", () => receiver.received[1]);
  await page.getByRole("button", { name: "Replay" }).click();
  await page.getByRole("button", { name: "Send again" }).click();
  await page.getByText("1 event is sent again.").waitFor();
  await eventually("it a third time", () => receiver.received[2]);
  const ids = receiver.received.map(({ headers }) => headers["webhook-id"]);
  assert.equal(new Set(ids).size, 1);
  await page.getByRole("button", { name: "Cancel" }).click();

  receiver.answer = (response) => void response.writeHead(410).end("moved");
  await page.getByRole("button", { name: "Test" }).click();
  await page.getByText(/The test failed: 410 in/).waitFor();
  await page.reload();
  await page.getByText("Nothing is sent: the receiver answered 410: it is gone.").waitFor();
  assert.equal(await page.getByRole("button", { name: "Test" }).count(), 0);
  assert.deepEqual(await barriers(viewer), []);

  await page.getByRole("link", { name: "Jobs" }).click();
  const row = page.getByRole("row").filter({ hasText: `Delivery to ${NAME}` });
  await row.getByText(/answered 410/).waitFor();
  assert.deepEqual(await barriers(viewer), []);
  receiver.answer = (response) => void response.writeHead(204).end();
  await page.goBack();
  await page.getByRole("button", { name: "Enable" }).click();
  await page.getByRole("button", { name: "Disable" }).waitFor();
  const before = receiver.received.length;
  await page.getByRole("link", { name: "Settings" }).click();
  await page.getByRole("link", { name: "Jobs" }).click();
  await row.getByRole("button", { name: "Retry" }).click();
  await eventually("the retried delivery", () => receiver.received[before]);
  await page.getByRole("heading", { name: "No job has failed" }).waitFor();
  assert.deepEqual(viewer.faults, []);
});
