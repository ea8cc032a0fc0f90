import assert from "node:assert/strict";
import { after, type TestContext, test } from "node:test";
import { ViewerBrowser, type ViewerPage } from "../../bench/livestream/viewer-browser.js";
import { barriers } from "./axe.js";
import { serverOfFile } from "./browser-stand.js";
import { PageSite } from "./page-site.js";
import { SPOKEN_MICROPHONE, speaking } from "./spoken-words.js";
import { WidgetSite } from "./widget-site.js";

const REFUSED = ["--use-fake-device-for-media-stream", "--deny-permission-prompts"];
/** Every request for a microphone is permitted, but this machine has none. */
const NO_DEVICE = ["--use-fake-ui-for-media-stream"];
/** On some systems only one program at a time can use the microphone. */
const BUSY_MICROPHONE = `navigator.mediaDevices.getUserMedia = async () => {
  throw new DOMException("Could not start audio source", "NotReadableError");
};`;
/**
 * Runs in the page, whose policy allows no other way of waiting: resolves when the widget's meter shows such a level,
 * from 0 to 1.
 */
const untilMeter = (condition: string) => `new Promise((resolve) => {
  const { style } = document.querySelector("parley-agent").shadowRoot.querySelector(".meter i");
  const look = () => {
    if (Number(style.getPropertyValue("--level")) ${condition}) resolve();
    else requestAnimationFrame(look);
  };
  look();
})`;
/** Runs before the page's scripts: exposes the audio context of the call. */
const CALL_CONTEXT = `globalThis.AudioContext = class extends AudioContext {
  constructor(options) {
    super(options);
    globalThis.callContext = this;
  }
};`;

/** Tags are not spoken: the agent's transcript contains one if the LLM's text has the entities of one. */
const GREETING =
  "Hello, &lt;img src=x onerror=alert(1)&gt; &amp; &lt;b&gt;this&lt;/b&gt; is the shop.";
const HEARD = "Hello, <img src=x onerror=alert(1)> & <b>this</b> is the shop.";
const NAME = "مكتب <b>الاستقبال</b> 🛎";

const server = await serverOfFile();
const site = await WidgetSite.start(server);
after(() => site.close());

interface Visit {
  /** Omitted: a microphone into which the test speaks. */
  readonly flags?: readonly string[];
  readonly scriptBefore?: string;
  /** Headers that are sent with the page. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Opens a page of the site in a browser of its own. */
async function pageWith(
  context: TestContext,
  attributes: string,
  { flags, scriptBefore = "", headers }: Visit = {},
): Promise<ViewerPage> {
  const browser = await ViewerBrowser.start(flags ?? REFUSED);
  context.after(() => browser.stop());
  // The fake device beeps, which interrupts the agent.
  const spoken = flags === undefined ? `${SPOKEN_MICROPHONE}${CALL_CONTEXT}` : "";
  return site.open(browser, attributes, `${spoken}${scriptBefore}`, headers);
}

/** Opens a page in a call with an agent that greets, with the client token that the site gets. */
async function talking(context: TestContext): Promise<ViewerPage["page"]> {
  const customer = await server.customer();
  const { id } = await server.agent(customer, { persona: { greeting: GREETING } });
  site.giveOut(await site.tokenFor(customer, id));
  const viewer = await pageWith(context, `${site.tokenAttributes} mode="inline"`);
  await viewer.page.getByRole("button", { name: "Start talking" }).click();
  await viewer.page.getByText("Listening").waitFor();
  return viewer.page;
}

test("with the keyboard alone, the widget opens, talks, shows the words as text, mutes, and closes", async (context) => {
  const customer = await server.customer();
  const allowedOrigins = [site.origin];
  const { id } = await server.agent(customer, {
    name: NAME,
    persona: { greeting: GREETING },
    allowedOrigins,
  });
  const { page, faults } = await pageWith(context, `agent="${id}"`);
  await page.getByRole("button", { name: "Talk to us" }).waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog");
  await dialog.waitFor();
  // The panel has moved the focus to its next control.
  await page.keyboard.press("Enter");
  const said = page.getByRole("log").getByText(HEARD);
  await said.waitFor();
  // Screen readers announce only final words.
  await page.locator('parley-agent p[aria-hidden="false"]').filter({ hasText: "Hello" }).waitFor();
  await page.getByRole("heading", { name: NAME }).waitFor();
  await page.keyboard.press("Tab");
  await page.keyboard.press("Space");
  await page.getByRole("button", { name: "Mute", pressed: true }).waitFor();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /call is in progress/ }).waitFor();
  assert.equal(await page.evaluate("document.activeElement.tagName"), "PARLEY-AGENT");
  await page.keyboard.press("Enter");
  await page.getByRole("button", { name: "Hang up" }).click();
  await page.getByText("The call has ended.").waitFor();
  assert.deepEqual(faults, []);
  assert.equal((await server.endedCall(customer)).status, "completed");
});

for (const { reason, explained, ...visit } of [
  { reason: "refused", flags: REFUSED, explained: /access is blocked\. Allow it for/ },
  { reason: "missing", flags: NO_DEVICE, explained: /No microphone was found\. Plug one in/ },
  {
    reason: "used by another program",
    flags: REFUSED,
    scriptBefore: BUSY_MICROPHONE,
    explained: /another program may be using it\. Close that program/,
  },
  {
    reason: "denied to the page by its site",
    flags: NO_DEVICE,
    headers: { "permissions-policy": "microphone=()" },
    explained: /For the site's owner: .*Permissions-Policy say microphone=\(self\)/,
  },
]) {
  test(`a microphone that is ${reason} is explained, and the conversation continues in text`, async (context) => {
    const customer = await server.customer();
    const { id } = await server.agent(customer, { allowedOrigins: [site.origin] });
    const attributes = `agent="${id}" mode="inline"`;
    const viewer = await pageWith(context, attributes, visit);
    const { page, faults } = viewer;
    await page.getByRole("button", { name: "Start talking" }).click();
    const alert = page.getByRole("alert").filter({ hasText: explained });
    await alert.filter({ hasText: "type below" }).waitFor();
    await page.getByText("Waiting for your words").waitFor();
    await page.getByRole("button", { name: "Try the microphone again" }).click();
    await alert.waitFor();
    assert.deepEqual(await barriers(viewer), []);
    assert.equal(await page.getByRole("button", { name: "Mute" }).isVisible(), false);
    await page.getByLabel("Write to the agent").fill("My name is Ada.");
    await page.keyboard.press("Enter");
    const log = page.getByRole("log");
    await log.getByText("My name is Ada.").waitFor();
    await log.getByText("Nice to meet you, Ada.").waitFor();
    assert.equal(await page.getByLabel("Write to the agent").inputValue(), "");
    await page.getByRole("button", { name: "Hang up" }).click();
    await page.getByText("The call has ended.").waitFor();
    const { status, transcript } = await server.endedCall(customer);
    assert.equal(status, "completed");
    assert.equal(transcript[0]?.text, "My name is Ada.");
    assert.deepEqual(faults, []);
  });
}

const LOST_MICROPHONES = [
  {
    title: "that is unplugged during a call is reported, and used again when it is back",
    lose: "unplug()",
    words: "The microphone was disconnected.",
    giveBack: "plugIn()",
  },
  {
    title: "that the system mutes during a call is reported, and recovers by itself",
    lose: "muteBySystem(true)",
    words: "The system has muted the microphone.",
    giveBack: "muteBySystem(false)",
  },
] as const;
for (const { title, lose, words, giveBack } of LOST_MICROPHONES) {
  test(`a microphone ${title}`, async (context) => {
    const page = await talking(context);
    await page.evaluate(lose);
    await page.getByRole("alert").filter({ hasText: words }).waitFor();
    await page.getByLabel("Write to the agent").fill("My name is Ada.");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("log").getByText("Nice to meet you, Ada.").waitFor();
    await page.evaluate(giveBack);
    await page.getByRole("alert").waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Mute" }).waitFor();
    // Silent again, so that the meter shows only the visitor's voice from here on.
    await page.getByText("Listening").waitFor();
    await page.evaluate(untilMeter("=== 0"));
    const isShown = page.evaluate(untilMeter("> 0.2"));
    await page.evaluate(speaking("What is my name?"));
    await isShown;
  });
}

test("a widget in a frame without microphone permission says what the site's owner has to do", async (context) => {
  const customer = await server.customer();
  const { id } = await server.agent(customer, { allowedOrigins: [site.origin] });
  const inner = await pageWith(context, `agent="${id}" mode="inline"`, { flags: NO_DEVICE });
  const { page } = inner;
  const outer = await PageSite.start(
    server.url,
    {
      "/": {
        contentType: "text/html",
        body: `<!doctype html><title>Outer</title><iframe src="${page.url()}"></iframe>`,
      },
    },
    "frame-src *",
  );
  context.after(() => outer.close());
  await page.goto(`${outer.origin}/`);
  const frame = page.frameLocator("iframe");
  await frame.getByRole("button", { name: "Start talking" }).click();
  const explained = /For the site's owner: .* add allow="microphone" to the iframe/;
  await frame.getByRole("alert").filter({ hasText: explained }).waitFor();
  await frame.getByText("Waiting for your words").waitFor();
});

test("audio that the browser blocks is explained, and a click anywhere resumes it", async (context) => {
  const page = await talking(context);
  await page.evaluate("void callContext.suspend()");
  await page.getByRole("alert").filter({ hasText: "until you click or press a key" }).waitFor();
  await page.getByRole("heading").click();
  await page.getByRole("alert").waitFor({ state: "hidden" });
  assert.equal(await page.evaluate("callContext.state"), "running");
});

test("an expired token is explained when the connection is lost, with what to do", async (context) => {
  const page = await talking(context);
  const warning = page.waitForEvent("console", (message) => message.type() === "warning");
  // Before the connection is cut: a retry that already has a valid token would succeed once the connection is back.
  site.giveOut("a token that is not good any more");
  site.cut();
  await page.getByText("The connection was lost. Trying again…").waitFor();
  site.mend();
  await page.getByRole("alert").filter({ hasText: "Start a new call." }).waitFor();
  const warned = (await warning).text();
  assert.match(warned, /^parley-agent: tokenEnded: /);
  assert.doesNotMatch(warned, /not good any more/, "no token in the console");
  await page.getByRole("button", { name: "Start talking" }).waitFor();
});

test("on a site for which the agent is not public, the widget says that it may not call", async (context) => {
  const customer = await server.customer();
  const { id } = await server.agent(customer, { allowedOrigins: ["https://shop.example.com"] });
  const { page } = await pageWith(context, `agent="${id}" mode="inline"`);
  const warning = page.waitForEvent("console", (message) => message.type() === "warning");
  await page.getByRole("button", { name: "Start talking" }).click();
  await page.getByRole("alert").filter({ hasText: "This page is not allowed to call." }).waitFor();
  assert.match(
    (await warning).text(),
    /^parley-agent: refused: .+ Add the page's origin to the agent's allowedOrigins/,
  );
});

test("the page runs the agent's tool call, and the agent says the result", async (context) => {
  const customer = await server.customer();
  const schema = { type: "object", properties: { colour: { type: "string" } } };
  const about = { description: "Paints the page.", parameters: schema, timeoutMs: 5_000 };
  const { id } = await server.agent(customer, {
    allowedOrigins: [site.origin],
    tools: [{ type: "client", name: "paint", ...about }],
  });
  const { page, faults } = await pageWith(context, `agent="${id}" mode="inline"`);
  await page.evaluate(`document.querySelector("parley-agent").tool("paint", ({ colour }) => {
    document.body.dataset.colour = colour;
    return "painted " + colour;
  })`);
  const nameless = page.evaluate(`document.querySelector("parley-agent").tool("", () => {})`);
  await assert.rejects(nameless, /is not a valid tool name/);
  await page.getByRole("button", { name: "Start talking" }).click();
  await page.getByText("Listening").waitFor();
  await page.getByLabel("Write to the agent").fill('use paint with {"colour":"red"}');
  await page.keyboard.press("Enter");
  await page.getByRole("log").getByText("The tool says: painted red.").waitFor();
  assert.equal(await page.evaluate("document.body.dataset.colour"), "red");
  assert.deepEqual(faults, []);
});
