import assert from "node:assert/strict";
import { test } from "node:test";
import { barriers } from "./axe.js";
import { standOfFile } from "./browser-stand.js";
import { NOW_IN_SIGHT, visitConsole } from "./console-visit.js";
import { SPOKEN_MICROPHONE, sayUntil } from "./spoken-words.js";

const NAME = "مكتب <b>الاستقبال</b> 🛎";
/** Tags are not spoken: the agent's transcript contains one if the LLM's text has the entities of one. */
const GREETING = "Hello &lt;img src=x onerror=alert(1)&gt; &amp; &lt;b&gt;good&lt;/b&gt; day.";
const HEARD = "Hello <img src=x onerror=alert(1)> & <b>good</b> day.";
/** Runs in the page: resolves when the condition holds. The console's content policy refuses Playwright's own way. */
const until = (condition: string) => `new Promise((resolve) => {
  const look = () => ((${condition}) ? resolve() : requestAnimationFrame(look));
  look();
})`;
/** Runs in the page: whether the level meters of both speakers have moved. */
const METERS_MOVED = `(() => {
  globalThis.moved ??= new Set();
  for (const bar of document.querySelectorAll(".meter span")) {
    const level = Number(/[\\d.]+/.exec(bar.style.transform)?.[0] ?? 0);
    if (level > 0.2) moved.add(bar.closest(".stack").textContent);
  }
  return moved.has("You") && moved.has("Agent");
})()`;
/** The next request for a microphone fails. */
const BUSY_ONCE = `{
  const open = navigator.mediaDevices.getUserMedia;
  navigator.mediaDevices.getUserMedia = async () => {
    navigator.mediaDevices.getUserMedia = open;
    throw new DOMException("in use", "NotReadableError");
  };
}`;
/** Runs before the page's own script, so that the test can inspect the audio context. */
const WATCHED_SOUND = `globalThis.AudioContext = class extends AudioContext {
  constructor(options) {
    super(options);
    globalThis.sound = this;
  }
};
globalThis.GainNode = class extends GainNode {
  constructor(...options) {
    super(...options);
    globalThis.loudness = this.gain;
  }
};`;
const IS_AS_CHOSEN = `sound.sinkId !== "" && loudness.value === 0.5`;

const { server, browser } = await standOfFile({
  flags: ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"],
});

test("a user without a microphone sees so beside the editor, continues in text, and sees markup as text", async () => {
  const customer = await server.customer();
  const { id } = await server.agent(customer, { name: NAME, persona: { greeting: GREETING } });
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.addInitScript(`${SPOKEN_MICROPHONE}unplug();`);
  await page.goto(`${server.url}/console/agents/${id}`);
  await page.getByRole("heading", { level: 1, name: NAME }).waitFor();
  await page.locator(".talk-button").click();
  await page.getByRole("alert").filter({ hasText: "No microphone was found." }).waitFor();
  await page.getByText("Listening", { exact: true }).waitFor();
  const words = page.getByRole("log", { name: "What is said" });
  await words.locator("span:not(.guess)").filter({ hasText: HEARD }).waitFor();
  assert.deepEqual(await barriers(viewer), []);
  const link = page.getByRole("link", { name: "This call’s page" });
  const address = await link.getAttribute("href");
  const [own] = await server.calls(customer);
  assert.equal(address, `/console/calls/${own?.id}`);
  const other = await server.call(customer);
  await page.getByLabel("Type instead of speaking").fill("My name is Ada.");
  await page.keyboard.press("Enter");
  await words.getByText("Nice to meet you, Ada.").waitFor();
  assert.equal(await link.getAttribute("href"), address);
  await other.hangUp();
  // A browser that does not report the change.
  await page.evaluate("navigator.mediaDevices.dispatchEvent = () => true, plugIn()");
  await page.getByRole("button", { name: "Try the microphone again" }).click();
  await page.getByRole("alert").waitFor({ state: "detached" });
  await page.locator(".talk-button").click();
  await page.getByText("The call has ended").waitFor();
  await link.click();
  await page.getByRole("heading", { level: 1, name: NAME }).waitFor();
  await page.locator(".transcript").getByText(HEARD).waitFor();
  assert.deepEqual(viewer.faults, []);
});

test("Chat exchanges text with an agent, keeps text that could not be sent, and creates no call", async () => {
  const customer = await server.customer();
  const { id } = await server.agent(customer);
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.goto(`${server.url}/console/talk/${id}`);
  const agent = page.getByRole("region", { name: "Try the agent" });
  await agent.getByRole("button", { name: "Chat" }).click();
  const field = agent.getByLabel("Your message");
  await page.route("**/chat", (route) => route.abort());
  await field.fill("My name is Ada.");
  await page.keyboard.press("Enter");
  await agent.getByRole("alert").filter({ hasText: "The server does not respond." }).waitFor();
  assert.equal(await field.inputValue(), "My name is Ada.");
  await page.unroute("**/chat");
  await page.keyboard.press("Enter");
  const said = agent.getByRole("log", { name: "Conversation" });
  await said.getByText("Nice to meet you, Ada.").waitFor();
  await field.fill("What is <b>my name</b>? What is my name?");
  await page.keyboard.press("Enter");
  await said.getByText("Your name is Ada.").waitFor();
  await said.getByText("What is <b>my name</b>?").waitFor();
  assert.deepEqual(await barriers(viewer), []);
  assert.deepEqual(await server.calls(customer), []);
  assert.deepEqual(viewer.faults, []);
});

test("a user who talks to an agent sees the words, those that were not heard struck out, and the call's page", async () => {
  const customer = await server.customer();
  await server.agent(customer, { recording: { enabled: true, retentionDays: 1 } });
  const viewer = await visitConsole(browser, server, customer);
  const { page } = viewer;
  await page.addInitScript(`${SPOKEN_MICROPHONE}${WATCHED_SOUND}`);
  await page.goto(`${server.url}/console/talk`);
  await page.locator(".talk-button").click();
  await page.getByText("Listens").waitFor();
  await page.getByText("Sound", { exact: true }).click();
  const microphone = page.getByLabel("Microphone");
  await page.evaluate(BUSY_ONCE);
  await microphone.selectOption("Fake Audio Input 1");
  const refused = page.getByRole("alert").filter({ hasText: "another program may be using it" });
  await refused.waitFor();
  // The previous device is still selected.
  await page.getByText("Listens").waitFor();
  assert.equal(await microphone.inputValue(), "");
  await page.evaluate("globalThis.speak = undefined");
  await microphone.selectOption("Fake Audio Input 2");
  await page.evaluate(until("globalThis.speak !== undefined"));
  await refused.waitFor({ state: "detached" });
  await page.getByLabel("Loudspeaker").selectOption("Fake Audio Output 1");
  await page.getByLabel("Volume").fill("50");
  await page.evaluate(until(IS_AS_CHOSEN));
  const words = page.getByRole("log", { name: "What is said" });
  const counts = words.getByText(/Number 2\./);
  const isShown = page.evaluate(until(METERS_MOVED));
  await sayUntil(page, "Please count to 30.", counts);
  await isShown;
  const answer = words.getByText(/so just say it\.$/).last();
  const isAnswered = sayUntil(page, "Stop. What is my name?", answer);
  await words
    .locator("s")
    .filter({ hasText: /Number \d+\./ })
    .first()
    .waitFor();
  await isAnswered;
  await page.getByRole("heading", { name: "Wait for each reply" }).waitFor();
  // Both replies show their waterfall while the call continues.
  await page.locator(".waterfall").nth(1).waitFor();
  await page.locator(".talk-button").click();
  await page.getByText("The call has ended").waitFor();
  await page.evaluate("globalThis.sound = undefined");
  await page.locator(".talk-button").click();
  await page.evaluate(until(`globalThis.sound !== undefined && ${IS_AS_CHOSEN}`));
  await page.locator(".talk-button").click();
  await page.getByText("The call has ended").waitFor();
  await server.endedCalls(customer, 2);

  await page.goto(`${server.url}/console/calls`);
  await page.getByRole("link").filter({ hasText: "the caller hung up" }).last().click();
  await page
    .getByText(/cut off here by the caller/)
    .first()
    .waitFor();
  const unheard = page.locator("s").filter({ hasText: /Number \d+\./ });
  assert.ok((await unheard.count()) > 0, "words that were not heard are struck out here, too");
  await page.getByText("end of speech detected").first().waitFor();
  await page.getByRole("button", { name: "Play" }).click();
  await page.getByRole("button", { name: "Pause" }).waitFor();
  assert.deepEqual(await barriers(viewer), []);
  await page.setViewportSize({ width: 390, height: 640 });
  const lanes = page.locator(".lanes");
  const place = await lanes.boundingBox();
  assert.ok(place);
  await lanes.click({ position: { x: 0.9 * place.width, y: place.height / 2 } });
  await page.locator(".turn:nth-child(n+3)[aria-current=true]").waitFor();
  await page.waitForFunction(NOW_IN_SIGHT);
  assert.deepEqual(viewer.faults, []);
});
