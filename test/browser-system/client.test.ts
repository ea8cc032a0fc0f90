import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import * as v from "valibot";
import { ViewerBrowser } from "../../bench/livestream/viewer-browser.js";
import { WAIT_MAX_MS } from "../doubles/changes.js";
import { serverOfFile } from "./browser-stand.js";
import { CLIENT_PAGE_FILES, ClientPage, framingPage, STRICT_POLICY } from "./client-page.js";
import { PageSite } from "./page-site.js";
import { SPOKEN_MICROPHONE, sayAgainUntil } from "./spoken-words.js";

const FAKE_MICROPHONE = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];

/** A browser that asks its user for microphone permission, and waits. */
const ASKING_BROWSER = `globalThis.askedCount = 0;
globalThis.asked = new Promise((resolve) => globalThis.tellAsked = resolve);
navigator.mediaDevices.getUserMedia = () => new Promise((_, reject) => {
  globalThis.askedCount += 1;
  tellAsked();
  globalThis.refuse = () => reject(new DOMException("refused", "NotAllowedError"));
});`;

/** As in Firefox and Safari, which do not tell a page what its site permits. */
const WITHOUT_POLICY_API = "delete Document.prototype.featurePolicy;";

/** Records the constraints with which the page requests microphones. */
const WATCHED_MICROPHONE = `globalThis.asked = [];
const open = navigator.mediaDevices.getUserMedia.bind(navigator.mediaDevices);
navigator.mediaDevices.getUserMedia = (wanted) => {
  asked.push(wanted.audio);
  return open(wanted);
};`;
/** Records the text messages that the page sends. */
const WATCHED_LINE = `globalThis.sent = [];
const { send } = WebSocket.prototype;
WebSocket.prototype.send = function (data) {
  if (typeof data === "string") sent.push(data);
  return send.call(this, data);
};`;
/** Runs in the page: resolves when this many progress reports in a row have shown no further playback. */
const untilToldStill = (count: number) => `new Promise((resolve) => {
  const look = () => {
    const newest = sent.filter((data) => data.includes('"played"')).slice(-${count});
    if (newest.length === ${count} && new Set(newest).size === 1) resolve();
    else requestAnimationFrame(look);
  };
  look();
})`;
const DEVICES = `devices().then((found) => Object.fromEntries(Object.entries(found).map(
  ([kind, devices]) => [kind, devices.map(({ deviceId }) => deviceId)])))`;
const Choice = v.pipe(v.array(v.string()), v.minLength(2));
const Devices = v.object({ microphones: Choice, loudspeakers: Choice });
const Asked = v.object({
  echoCancellation: v.boolean(),
  deviceId: v.object({ exact: v.string() }),
});
/** Longer than the client keeps a connection that accepts no data. */
const STAND_STILL = "for (const endMs = performance.now() + 3_000; performance.now() < endMs; );";
/** Runs in the page: resolves when the call's levels meet the condition. */
const untilLevels = (condition: string) => `new Promise((resolve, reject) => {
  const forget = call.on("levels", ({ caller, agent }) => {
    if (!(${condition})) return;
    forget();
    resolve();
  });
  setTimeout(() => reject(new Error(${JSON.stringify(condition)})), ${WAIT_MAX_MS});
})`;

/**
 * The client promises 120 ms and 60 ms; dist/bench/page-sound.js measures those, which a busy machine cannot guarantee.
 */
const SOON_SEC = 1;
/** Longer than SOON_SEC, and shorter than the timeout of an LLM. */
const ANSWER_MS = 2_000;

/** Matches a turn whose first audio was played at that time of the page's audio clock, or later. */
const turnBegun = (sec: number) =>
  v.object({ phase: v.literal("begun"), atSec: v.pipe(v.number(), v.minValue(sec)) });

const server = await serverOfFile();
const site = await PageSite.start(server.url, CLIENT_PAGE_FILES, STRICT_POLICY);
after(() => site.close());

async function browserOf(context: TestContext, flags: readonly string[]): Promise<ViewerBrowser> {
  const browser = await ViewerBrowser.start(flags);
  context.after(() => browser.stop());
  return browser;
}

/** Starts a call by a page whose microphone plays the test's words. */
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

/** Says the text until it is understood, and resolves when the reply has been played. */
function ask(page: ClientPage, text: string, answer: RegExp): Promise<void> {
  return sayAgainUntil(page.viewer.page, text, () => page.played.until(answer));
}

for (const rateHz of [48_000, 44_100]) {
  test(`a page with a strict policy makes a call, with a device at ${rateHz} Hz`, async (context) => {
    const { page, customer } = await talking(context, rateHz);
    await ask(
      page,
      "My name is Ada.",
      /Nice to meet you, Ada\. How can I help you in this sandbox\?$/,
    );
    const { atSec } = await page.until("turn", turnBegun(0));
    const first = page.soundings.find(({ peak, endSec }) => peak > 0 && endSec > atSec);
    assert.ok(first && first.endSec - atSec <= SOON_SEC, `${atSec}: ${first?.endSec}`);
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

test("the page stops playback when the caller interrupts, and shows the words that were not heard", async (context) => {
  const { page } = await talking(context);
  await page.viewer.page.evaluate('call.write("Please count to 30.")');
  await page.soundAfter((await page.until("turn", turnBegun(0))).atSec + 2);
  const { openai } = server.sandbox.faults;
  server.sandbox.faults.openai = { ...openai, firstTokenMs: ANSWER_MS };
  context.after(() => {
    server.sandbox.faults.openai = openai;
  });
  await page.viewer.page.evaluate('call.write("What is my name?")');
  const stopped = v.object({ phase: v.literal("interrupted"), atSec: v.number() });
  const { atSec } = await page.until("turn", stopped);
  const { atSec: answerSec } = await page.until("turn", turnBegun(atSec));
  const after = await page.soundAfter(atSec + SOON_SEC);
  assert.deepEqual(
    after.filter(({ peak, endSec }) => peak > 0 && endSec < answerSec).slice(0, 1),
    [],
  );
  const cut = v.object({
    kind: v.literal("heard"),
    text: v.string(),
    unheard: v.pipe(v.string(), v.nonEmpty()),
  });
  const { text, unheard } = await page.until("words", cut);
  assert.match(text, /^Number 1\./);
  assert.match(unheard, /Number \d+\.$/);
  await page.hangUp();
  assert.deepEqual(page.viewer.faults, []);
});

test("a call survives the loss of its connection, and continues the conversation", async (context) => {
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

test("devices are listed and can be changed during a call, and levels and volume match the audio", async (context) => {
  const browser = await browserOf(context, FAKE_MICROPHONE);
  const customer = await server.customer();
  await server.agent(customer);
  const scriptBefore = WATCHED_MICROPHONE;
  const call = await ClientPage.open({ browser, origin: site.origin, scriptBefore });
  const { page } = call.viewer;
  assert.equal(await call.begin({ apiKey: customer.apiKey }), "");
  await call.until("connected", v.object({ isAgain: v.literal(false) }));
  await page.evaluate(untilLevels("caller > 0.2"));

  const { microphones, loudspeakers } = v.parse(Devices, await page.evaluate(DEVICES));
  const [microphoneId = "", loudspeakerId = ""] = [microphones.at(-1), loudspeakers.at(-1)];
  await page.evaluate(`call.sound.useMicrophone("${microphoneId}")`);
  const Opened = v.object({ state: v.literal("open"), deviceId: v.literal(microphoneId) });
  await call.until("microphone", Opened);
  const { echoCancellation, deviceId } = v.parse(Asked, await page.evaluate("asked.at(-1)"));
  assert.deepEqual([echoCancellation, deviceId.exact], [true, microphoneId]);
  await page.evaluate(untilLevels("caller > 0.2"));
  // The fake microphone beeps, which would interrupt the agent.
  await page.evaluate("call.setMuted(true)");
  await page.evaluate(untilLevels("caller === 0"));
  await page.evaluate('call.write("Please count to 100.")');
  await page.evaluate(untilLevels("agent > 0.2"));

  await page.evaluate(`call.sound.useLoudspeaker("${loudspeakerId}")`);
  assert.equal(await page.evaluate("testContext.sinkId"), loudspeakerId);
  await page.evaluate(untilLevels("agent > 0.2"));

  const muteSec = v.parse(
    v.number(),
    await page.evaluate("call.setVolume(0), testContext.currentTime"),
  );
  const silent = await call.soundAfter(muteSec + 0.1);
  assert.deepEqual(
    silent.filter(({ peak }) => peak > 0),
    [],
  );
  await page.evaluate(untilLevels("agent > 0.2"));

  await page.evaluate(STAND_STILL);
  await page.evaluate("call.setMuted(false)");
  await page.evaluate(untilLevels("caller > 0.2"));
  assert.ok(!call.notes("state").includes("reconnecting"), "the connection works as before");

  await page.context().setOffline(true);
  await call.until("state", v.literal("reconnecting"));
  await page.context().setOffline(false);
  await call.until("connected", v.object({ isAgain: v.literal(true) }));
  await call.hangUp();
  await server.endedCalls(customer, 2);
  assert.deepEqual(call.viewer.faults, []);
});

test("audio that the system holds back is not reported as heard, and is dropped when the caller interrupts", async (context) => {
  const browser = await browserOf(context, FAKE_MICROPHONE);
  const customer = await server.customer();
  await server.agent(customer);
  const call = await ClientPage.open({ browser, origin: site.origin, scriptBefore: WATCHED_LINE });
  const { page } = call.viewer;
  assert.equal(await call.begin({ apiKey: customer.apiKey }), "");
  await call.until("connected", v.object({ isAgain: v.literal(false) }));
  // The fake microphone beeps, which would interrupt the agent.
  await page.evaluate("call.setMuted(true)");
  await page.evaluate('call.write("Please count to 10.")');
  await page.evaluate(untilLevels("agent > 0.2"));
  await page.evaluate("testContext.suspend()");
  // Longer than the whole reply takes.
  await page.evaluate(untilToldStill(80));
  await page.evaluate("testContext.resume()");
  await page.evaluate('call.write("What is my name?")');
  const cut = v.object({ kind: v.literal("heard"), unheard: v.pipe(v.string(), v.nonEmpty()) });
  assert.match((await call.until("words", cut)).unheard, /Number 10\.$/);
  await call.hangUp();
  assert.deepEqual(call.viewer.faults, []);
});

test("a refused microphone is explained, and no call begins", async (context) => {
  const browser = await browserOf(context, [
    "--use-fake-device-for-media-stream",
    "--deny-permission-prompts",
  ]);
  const customer = await server.customer();
  const page = await ClientPage.open({ browser, origin: site.origin });
  assert.equal(await page.begin({ apiKey: customer.apiKey }), "microphoneDenied");
  const told = v.object({ code: v.literal("microphoneDenied"), message: v.string() });
  const { message } = await page.until("fault", told);
  assert.match(message, /Allow it for this page in the browser's settings/);
  await page.until("state", v.literal("ended"));
  assert.deepEqual(await server.calls(customer), []);
});

test("a microphone that the system mutes is reported, and works again when the system unmutes it", async (context) => {
  const { page } = await talking(context);
  await page.viewer.page.evaluate("muteBySystem(true)");
  await page.until("microphone", v.object({ state: v.literal("muted") }));
  const muted = v.object({ code: v.literal("microphoneMuted"), message: v.string() });
  assert.match((await page.until("fault", muted)).message, /Unmute it with its key/);
  await page.viewer.page.evaluate("muteBySystem(false)");
  await page.until("mended", v.literal("microphoneMuted"));
  await ask(page, "My name is Ada.", /Nice to meet you, Ada\./);
  await page.hangUp();
  assert.deepEqual(page.viewer.faults, []);
  assert.equal(page.notes("fault").length, 1);
});

test("a microphone that was muted before the call is reported, and works when the system unmutes it", async (context) => {
  const browser = await browserOf(context, FAKE_MICROPHONE);
  const customer = await server.customer();
  await server.agent(customer);
  const scriptBefore = `${SPOKEN_MICROPHONE}muteBySystem(true);`;
  const page = await ClientPage.open({ browser, origin: site.origin, scriptBefore });
  assert.equal(await page.begin({ apiKey: customer.apiKey }), "");
  await page.until("fault", v.object({ code: v.literal("microphoneMuted") }));
  await page.until("connected", v.object({ isAgain: v.literal(false) }));
  await page.viewer.page.evaluate("muteBySystem(false)");
  await page.until("mended", v.literal("microphoneMuted"));
  await ask(page, "My name is Ada.", /Nice to meet you, Ada\./);
  await page.hangUp();
});

test("a page in a frame without microphone permission reports what the site's owner has to do, and with permission asks the user", async (context) => {
  const outer = await PageSite.start(
    server.url,
    {
      "/without": framingPage(site.origin, ""),
      "/with": framingPage(site.origin, 'allow="microphone"'),
    },
    "frame-src *",
  );
  context.after(() => outer.close());
  const browser = await browserOf(context, FAKE_MICROPHONE);
  const customer = await server.customer();
  await server.agent(customer);
  const { apiKey } = customer;
  const pageIn = (path: string, scriptBefore = "") =>
    ClientPage.open({
      browser,
      origin: site.origin,
      frameUrl: `${outer.origin}${path}`,
      scriptBefore,
    });
  const without = await pageIn("/without");
  assert.equal(await without.begin({ apiKey }), "microphoneNotPermitted");
  const told = v.object({ code: v.literal("microphoneNotPermitted"), message: v.string() });
  assert.match(
    (await without.until("fault", told)).message,
    /add allow="microphone" to the iframe/,
  );
  const untold = await pageIn("/without", WITHOUT_POLICY_API);
  assert.equal(await untold.begin({ apiKey }), "microphoneDenied");
  const denied = v.object({ code: v.literal("microphoneDenied"), message: v.string() });
  const { message } = await untold.until("fault", denied);
  assert.match(
    message,
    /Allow it for this page in the browser's settings.*add allow="microphone" to the iframe/,
  );
  const permitted = await pageIn("/with");
  assert.equal(await permitted.begin({ apiKey }), "");
  await permitted.until("connected", v.object({ isAgain: v.literal(false) }));
  assert.deepEqual(permitted.notes("fault"), []);
});

test("a page whose header denies the microphone reports what the site's owner has to do", async (context) => {
  const files = Object.entries(CLIENT_PAGE_FILES).map(([path, file]) => [
    path,
    { ...file, headers: { "permissions-policy": "microphone=()" } },
  ]);
  const closed = await PageSite.start(server.url, Object.fromEntries(files), STRICT_POLICY);
  context.after(() => closed.close());
  const browser = await browserOf(context, FAKE_MICROPHONE);
  const customer = await server.customer();
  const page = await ClientPage.open({ browser, origin: closed.origin });
  assert.equal(await page.begin({ apiKey: customer.apiKey }), "microphoneNotPermitted");
  const told = v.object({ code: v.literal("microphoneNotPermitted"), message: v.string() });
  assert.match(
    (await page.until("fault", told)).message,
    /Permissions-Policy say microphone=\(self\)/,
  );
});

test("after a caller hangs up while the browser asks for the microphone, that call does not ask again", async (context) => {
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
