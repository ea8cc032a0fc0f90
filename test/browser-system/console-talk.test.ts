import assert from "node:assert/strict";
import { test } from "node:test";
import { standOfFile } from "./browser-stand.js";
import { visitConsole } from "./console-visit.js";
import { SPOKEN_MICROPHONE, sayUntil, speaking } from "./spoken-words.js";

const { server, browser } = await standOfFile({
  flags: ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"],
});

test("who has no microphone is told so, and goes on in writing", async () => {
  const customer = await server.customer();
  await server.agent(customer);
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.addInitScript(`${SPOKEN_MICROPHONE}unplug();`);
  await page.goto(`${server.url}/console/talk`);
  await page.locator(".talk-button").click();
  await page.getByRole("alert").filter({ hasText: "No microphone was found." }).waitFor();
  await page.getByText("Waits for your words").waitFor();
  await page.getByLabel("Write in place of speaking").fill("My name is Ada.");
  await page.keyboard.press("Enter");
  const words = page.getByRole("log", { name: "What is said" });
  await words.getByText("Nice to meet you, Ada.").waitFor();
  // A browser that does not tell of it.
  await page.evaluate("navigator.mediaDevices.dispatchEvent = () => true, plugIn()");
  await page.getByRole("button", { name: "Try the microphone again" }).click();
  await page.getByRole("alert").waitFor({ state: "detached" });
  await page.locator(".talk-button").click();
  await page.getByText("The call has ended").waitFor();
  assert.deepEqual(viewer.faults, []);
});

test("who talks to an agent sees the words, what was never heard struck out, and the call's page", async () => {
  const customer = await server.customer();
  await server.agent(customer, { recording: { enabled: true, retentionDays: 1 } });
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.addInitScript(SPOKEN_MICROPHONE);
  await page.goto(`${server.url}/console/talk`);
  await page.locator(".talk-button").click();
  await page.getByText("Listens").waitFor();
  const words = page.getByRole("log", { name: "What is said" });
  const counts = words.getByText(/Number 2\./);
  await sayUntil(page, "Please count to 30.", counts);
  await page.evaluate(speaking("Stop. What is my name?"));
  await words
    .locator("s")
    .filter({ hasText: /Number \d+\./ })
    .waitFor();
  await words.getByText(/so just say it\.$/).waitFor();
  await page.locator(".talk-button").click();
  await page.getByText("The call has ended").waitFor();
  await server.endedCall(customer);

  await page.goto(`${server.url}/console/calls`);
  await page.getByRole("link").filter({ hasText: "the caller hung up" }).click();
  await page.getByText(/cut off here by the caller/).waitFor();
  await page.getByText("end of speech known").first().waitFor();
  await page.getByRole("button", { name: "Play" }).click();
  await page.getByRole("button", { name: "Pause" }).waitFor();
  assert.deepEqual(viewer.faults, []);
});
