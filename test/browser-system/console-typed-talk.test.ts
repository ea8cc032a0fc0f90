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
  assert.equal(await page.getByLabel("What the person says").count(), 0);
  // Until the call is answered, the page requests a record that does not exist yet.
  assert.deepEqual(
    viewer.faults.filter((fault) => !fault.includes("404")),
    [],
  );
});
