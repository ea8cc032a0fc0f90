import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { ViewerBrowser } from "../../bench/livestream/viewer-browser.js";
import type { Customer } from "../system/test-server.js";
import { serverOfFile } from "./browser-stand.js";
import { writeMicrophoneFile } from "./microphone-file.js";
import { SPOKEN_MICROPHONE, sayAgainUntil } from "./spoken-words.js";
import { TalkPage } from "./talk-page.js";

const FAKE_MICROPHONE = ["--use-fake-device-for-media-stream", "--use-fake-ui-for-media-stream"];

const server = await serverOfFile();
const folder = await mkdtemp(join(tmpdir(), "parley-browser-"));
after(() => rm(folder, { recursive: true }));

interface Call {
  readonly customer: Customer;
  readonly page: TalkPage;
}

/** With a key that can only open calls. */
async function call(context: TestContext, flags: readonly string[], script = ""): Promise<Call> {
  const customer = await server.customer();
  await server.agent(customer);
  const { id } = customer.tenant.organization;
  const key = await server.tenancy.apiKeys.create(id, { name: "Page", scopes: ["voice"] });
  const browser = await ViewerBrowser.start([...FAKE_MICROPHONE, ...flags]);
  context.after(() => browser.stop());
  const { host } = new URL(server.url);
  const apiKey = key.rawKey;
  const page = await TalkPage.call({ browser, folder, host, apiKey, scriptBefore: script });
  return { customer, page };
}

async function stored(customer: Customer): Promise<readonly string[]> {
  const { transcript, status } = await server.endedCall(customer);
  assert.equal(status, "completed");
  return transcript.map(({ role, text }) => `${role}: ${text}`);
}

test("the documented page sends the microphone's audio, and plays the agent's replies", async (context) => {
  const file = join(folder, "microphone.wav");
  // A busy machine may drop some of the microphone's audio: a caller who is not understood says it again.
  await writeMicrophoneFile(file, { text: "My name is Ada.", atSec: [6, 26] }, 60);
  const { customer, page } = await call(context, [
    `--use-file-for-fake-audio-capture=${file}%noloop`,
  ]);
  await page.played.until(/Ada\. How can I help you in this sandbox\?$/);
  await page.hangUp();
  const said = [
    "user: My name is Ada.",
    "assistant: Nice to meet you, Ada. How can I help you in this sandbox?",
  ];
  assert.match(page.played.text, /Nice to meet you, Ada\. How can I help you in this sandbox\?$/);
  assert.deepEqual((await stored(customer)).slice(-2), said);
  const lines = await page.lines();
  assert.deepEqual([lines[0], lines.at(-1)], ["connected: Reception", "closed: 1000"]);
  assert.ok(lines.includes("user: My name is Ada."), lines.join("\n"));
  assert.deepEqual(page.viewer.faults, []);
});

test("the documented page stops playback when the caller interrupts, and plays the next reply", async (context) => {
  const { customer, page } = await call(context, [], SPOKEN_MICROPHONE);
  const { viewer, played } = page;
  const ask = (text: string, answered: RegExp) =>
    sayAgainUntil(viewer.page, text, () => played.until(answered));
  await viewer.untilText("#log", /connected/);
  await ask("Please count to 30.", /Number 2\./);
  await ask("Stop. What is my name?", /so just say it\.$/);
  await page.hangUp();
  const lines = await stored(customer);
  const counted = lines.find((line) => line.startsWith("assistant: Number 1. Number 2.")) ?? "";
  const [question = "", answer] = lines.slice(-2);
  // A busy machine may lose the first word between the page's loudspeaker and its microphone.
  assert.match(question, /^user: .*What is my name\?$/);
  assert.equal(
    answer,
    "assistant: You have not told me your name yet. This is the sandbox, so just say it.",
  );
  // The agent had generated far more text than was heard.
  const numbers = (text: string) => text.match(/Number \d+\./g)?.length ?? 0;
  assert.ok(numbers(counted) >= 2 && numbers(counted) < 20, lines.join("\n"));
  // The sentence that the caller interrupted may have been cut within its last word.
  assert.ok(Math.abs(numbers(played.text) - numbers(counted)) <= 1, `${counted}\n${played.text}`);
  assert.deepEqual(viewer.faults, []);
});
