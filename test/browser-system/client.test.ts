import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import * as v from "valibot";
import { ViewerBrowser } from "../../bench/livestream/viewer-browser.js";
import { serverOfFile } from "./browser-stand.js";
import { CLIENT_PAGE_FILES, ClientPage, STRICT_POLICY } from "./client-page.js";
import { PageSite } from "./page-site.js";
import { SPOKEN_MICROPHONE, sayAgainUntil, speaking } from "./spoken-words.js";

const FAKE_MICROPHONE = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];

/** A browser that asks its user about the microphone, and waits. */
const ASKING_BROWSER = `globalThis.askedCount = 0;
globalThis.asked = new Promise((resolve) => globalThis.tellAsked = resolve);
navigator.mediaDevices.getUserMedia = () => new Promise((_, reject) => {
  globalThis.askedCount += 1;
  tellAsked();
  globalThis.refuse = () => reject(new DOMException("refused", "NotAllowedError"));
});`;

/** After the first byte of the turn has come: the jitter buffer, and the way to the loudspeaker. */
const FIRST_SOUND_MAX_SEC = 0.12;

const server = await serverOfFile();
const site = await PageSite.start(server.url, CLIENT_PAGE_FILES, STRICT_POLICY);
after(() => site.close());

async function browserOf(context: TestContext, flags: readonly string[]): Promise<ViewerBrowser> {
  const browser = await ViewerBrowser.start(flags);
  context.after(() => browser.stop());
  return browser;
}

/** A call by a page whose microphone says what the test wants. */
async function talking(context: TestContext, rateHz = 48_000) {
  const browser = await browserOf(context, FAKE_MICROPHONE);
  const customer = await server.customer();
  await server.agent(customer);
  const scriptBefore = SPOKEN_MICROPHONE;
  const page = await ClientPage.open({ browser, origin: site.origin, rateHz, scriptBefore });
  assert.equal(await page.begin({ apiKey: customer.apiKey }), "");
  await page.until("connected", v.object({ isAgain: v.literal(false) }));
  return { page, customer };
}

/** Says it until it is understood, and its answer has been played. */
function ask(page: ClientPage, text: string, answer: RegExp): Promise<void> {
  return sayAgainUntil(page.viewer.page, text, () => page.played.until(answer));
}

for (const rateHz of [48_000, 44_100]) {
  test(`a page under a strict policy talks, with a device at ${rateHz} Hz`, async (context) => {
    const { page, customer } = await talking(context, rateHz);
    await ask(
      page,
      "My name is Ada.",
      /Nice to meet you, Ada\. How can I help you in this sandbox\?$/,
    );
    const begun = v.object({ phase: v.literal("begun"), atSec: v.number() });
    const { atSec } = await page.until("turn", begun);
    const first = page.soundings.find(({ peak, endSec }) => peak > 0 && endSec > atSec);
    assert.ok(first && first.endSec - atSec <= FIRST_SOUND_MAX_SEC, `${atSec}: ${first?.endSec}`);
    const reply = "Nice to meet you, Ada. How can I help you in this sandbox?";
    const heard = v.object({ kind: v.literal("heard"), text: v.literal(reply) });
    await page.until("words", heard);
    await page.until(
      "words",
      v.object({ kind: v.literal("final"), text: v.literal("My name is Ada.") }),
    );
    await page.hangUp();
    assert.ok(page.played.text.endsWith(reply), page.played.text);
    assert.deepEqual(page.viewer.faults, []);
    assert.deepEqual(page.notes("fault"), []);
    const states = ["connecting", "listening", "thinking", "speaking", "listening", "ended"];
    const told = page.notes("state");
    assert.deepEqual([...told.slice(0, states.length - 1), told.at(-1)], states);
    const { status, transcript } = await server.endedCall(customer);
    assert.equal(status, "completed");
    assert.deepEqual(
      transcript.slice(-2).map(({ text }) => text),
      ["My name is Ada.", reply],
    );
  });
}

test("the page falls silent within 60 ms when the caller interrupts, and shows what was never heard", async (context) => {
  const { page } = await talking(context);
  await page.viewer.page.evaluate(speaking("Please count to 30."));
  await page.played.until(/Number 2\./);
  await page.viewer.page.evaluate(speaking("Stop. What is my name?"));
  const stopped = v.object({ phase: v.literal("interrupted"), atSec: v.number() });
  const { atSec } = await page.until("turn", stopped);
  const after = await page.soundAfter(atSec + 0.06);
  assert.deepEqual(
    after.filter(({ peak, endSec }) => peak > 0 && endSec > atSec + 0.07).slice(0, 1),
    [],
  );
  const cut = v.object({
    kind: v.literal("heard"),
    text: v.string(),
    unheard: v.pipe(v.string(), v.nonEmpty()),
  });
  const { text, unheard } = await page.until("words", cut);
  assert.match(text, /^Number 1\. Number 2\./);
  assert.match(unheard, /Number \d+\.$/);
  await page.played.until(/so just say it\.$/);
  await page.hangUp();
  assert.deepEqual(page.viewer.faults, []);
});

test("a call outlives its connection, and goes on with what was said", async (context) => {
  const { page, customer } = await talking(context);
  await ask(page, "My name is Ada.", /Nice to meet you, Ada\./);
  site.cut();
  await page.until("state", v.literal("reconnecting"));
  await page.until("fault", v.object({ code: v.literal("connectionLost") }));
  site.mend();
  await page.until("connected", v.object({ isAgain: v.literal(true) }));
  await ask(page, "What is my name?", /Your name is Ada\./);
  await page.hangUp();
  assert.deepEqual(page.viewer.faults, []);
  await server.endedCalls(customer, 2);
});

test("a microphone that is refused is explained, and nothing is called", async (context) => {
  const browser = await browserOf(context, [
    "--use-fake-device-for-media-stream",
    "--deny-permission-prompts",
  ]);
  const customer = await server.customer();
  const page = await ClientPage.open({ browser, origin: site.origin });
  assert.equal(await page.begin({ apiKey: customer.apiKey }), "microphoneDenied");
  const told = v.object({ code: v.literal("microphoneDenied"), message: v.string() });
  const { message } = await page.until("fault", told);
  assert.match(message, /Allow it in the browser's settings/);
  await page.until("state", v.literal("ended"));
  assert.deepEqual(await server.calls(customer), []);
});

test("who hangs up while the browser asks for the microphone is not asked by that call again", async (context) => {
  const browser = await browserOf(context, []);
  const scriptBefore = ASKING_BROWSER;
  const page = await ClientPage.open({ browser, origin: site.origin, scriptBefore });
  const begun = page.begin({ isMicrophoneNeeded: false });
  await page.viewer.page.evaluate("asked");
  await page.hangUp();
  await page.viewer.page.evaluate("refuse()");
  assert.equal(await begun, "");
  await page.viewer.page.evaluate(
    'navigator.mediaDevices.dispatchEvent(new Event("devicechange"))',
  );
  assert.equal(await page.viewer.page.evaluate("askedCount"), 1);
  assert.deepEqual(page.notes("fault"), []);
  assert.equal(await page.begin({ server: "voice.example.com" }), "protocol");
});
