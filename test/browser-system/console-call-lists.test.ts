import assert from "node:assert/strict";
import { after, test } from "node:test";
import { TwilioStand } from "../system/twilio-stand.js";
import { userToken } from "../system/user-token.js";
import { barriers } from "./axe.js";
import { standOfFile } from "./browser-stand.js";
import { openWithToken } from "./console-visit.js";

/** At the simulated telephone company, the line of such a number is busy. */
const BUSY = "+4930100001";
const UNWANTED = "+4930102000";
const FROM = "+15550408888";

const stand = await TwilioStand.start();
const { server, browser } = await standOfFile({ environment: stand.environment });
after(() => stand.close());
await stand.leadTo(server.parley.port);

test("a list is uploaded, started and called to its end, and each person's outcome is shown", async () => {
  const customer = await server.customer();
  await server.agent(customer);
  await server.tenancy.phoneNumbers.allow(customer.email, FROM);
  await server.tenancy.dialTargets.allow(customer.email, "+49");
  await server.tenancy.doNotCall.add(customer.tenant, [UNWANTED], null);
  const token = await userToken(server.database, customer.email);
  const viewer = await openWithToken(browser, `${server.url}/console/calls`, token);
  const { page, faults } = viewer;
  await page.getByRole("main").getByRole("link", { name: "Call lists" }).click();
  await page.getByRole("heading", { name: "No call lists yet" }).waitFor();
  assert.deepEqual(await barriers(viewer), []);

  await page.getByRole("button", { name: "Upload a list" }).click();
  const form = page.getByRole("dialog", { name: "Upload a list" });
  await form.getByLabel("Name").fill("Reminders");
  await form.getByLabel("From", { exact: true }).fill("00:00");
  await form.getByLabel("Until", { exact: true }).fill("24:00");
  await form.getByLabel("Also on Saturday and Sunday").check();
  await form.getByLabel("More calls to who was not reached").fill("0");
  const csv = `to,firstName\n${BUSY},Ada\n${UNWANTED},Ben\nnobody,Cy\n`;
  const file = { name: "people.csv", mimeType: "text/csv", buffer: Buffer.from(csv) };
  await form.getByLabel("A CSV file").setInputFiles([file]);
  await form.getByLabel("People", { exact: true }).getByText("Cy").waitFor();
  await form.getByRole("button", { name: "Upload the list" }).click();
  await form.getByText("csv line 4, to: expected an E.164 number such as +15550100").waitFor();
  assert.deepEqual(await barriers(viewer), []);
  await form.getByLabel("People", { exact: true }).fill(csv.replace("nobody,Cy\n", ""));
  await form.getByRole("button", { name: "Upload the list" }).click();

  await page.getByRole("heading", { name: "Reminders" }).waitFor();
  await page.getByText("2 waiting").waitFor();
  await page.getByRole("button", { name: "Start calling" }).click();
  await page.getByText("1 not reached, 1 not called").waitFor();
  const rowWith = (words: string) => page.getByRole("row").filter({ hasText: words });
  await rowWith(BUSY).getByText("the line was busy").waitFor();
  await rowWith(UNWANTED).getByText("on the do-not-call list").waitFor();
  await rowWith("the line was busy").filter({ hasText: "50 %" }).waitFor();
  assert.deepEqual(await barriers(viewer), []);
  const saving = page.waitForEvent("download");
  await page.getByRole("button", { name: "Results" }).click();
  assert.equal((await saving).suggestedFilename(), "Reminders.csv");

  await page.getByRole("button", { name: "not called" }).click();
  await page.getByText(BUSY).waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Delete Reminders" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete Reminders?" });
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { name: "No call lists yet" }).waitFor();
  assert.deepEqual(faults, []);
});

test("a list whose vendor accepts no calls says so, and goes on when it is asked to", async () => {
  const customer = await server.customer();
  await server.agent(customer);
  await server.tenancy.phoneNumbers.allow(customer.email, "+15550408889");
  await server.tenancy.dialTargets.allow(customer.email, "+49");
  stand.faults.twilio = { fault: "rateLimited" };
  const token = await userToken(server.database, customer.email);
  const viewer = await openWithToken(browser, `${server.url}/console/call-lists`, token);
  const { page, faults } = viewer;
  await page.getByRole("button", { name: "Upload a list" }).click();
  const form = page.getByRole("dialog", { name: "Upload a list" });
  await form.getByLabel("Name").fill("Survey");
  await form.getByLabel("From", { exact: true }).fill("00:00");
  await form.getByLabel("Until", { exact: true }).fill("24:00");
  await form.getByLabel("Also on Saturday and Sunday").check();
  await form.getByLabel("More calls to who was not reached").fill("0");
  const buffer = Buffer.from(`to;firstName\r\n${BUSY};J\u00fcrgen\r\n`, "latin1");
  const large = Buffer.alloc(1_000_001, "x");
  const chosen = form.getByLabel("A CSV file");
  await chosen.setInputFiles([{ name: "large.csv", mimeType: "text/csv", buffer: large }]);
  await form.getByText("The file has more than 1 MB.").waitFor();
  await chosen.setInputFiles([{ name: "people.csv", mimeType: "text/csv", buffer }]);
  await form.getByLabel("People", { exact: true }).getByText("J\u00fcrgen").waitFor();
  await form.getByRole("button", { name: "Upload the list" }).click();

  await page.getByRole("button", { name: "Start calling" }).click();
  await page.getByText("waiting for the vendor").waitFor();
  await page
    .getByText(/No call could be placed since .+ accepts no more calls for now \(429\)/)
    .waitFor();
  assert.deepEqual(await barriers(viewer), []);
  await page.getByRole("navigation").getByRole("link", { name: "Home" }).click();
  await page.getByRole("heading", { name: "Call lists that place no calls" }).waitFor();
  await page.getByText(/^No call could be placed since/).waitFor();
  assert.deepEqual(await barriers(viewer), []);
  await page.getByRole("main").getByRole("link", { name: "Survey" }).click();
  stand.faults.twilio = {};
  await page.getByRole("button", { name: "Try now" }).click();
  await page.getByText("1 not reached").waitFor();
  await page.getByRole("heading", { name: "Outcomes" }).waitFor();
  assert.deepEqual(await barriers(viewer), []);
  assert.deepEqual(faults, []);
});
