import assert from "node:assert/strict";
import { after, beforeEach, test } from "node:test";
import {
  EDGE_TRUSTED_CLIENT_TOKEN,
  edgeToken,
} from "../../../../engine/sandbox/edge/edge-simulator.js";
import { type EdgeFault, noFaults } from "../../../../engine/sandbox/faults.js";
import { startSandbox } from "../../../../engine/sandbox/sandbox.js";
import { mp3DurationMs, recognizeMp3 } from "../../../../engine/sandbox/sound/mp3-decoder.js";
import { refusedUpgrade } from "../deepgram/deepgram-client.js";
import {
  configFrame,
  type EdgeAnswer,
  edgeConversation,
  edgeUrl,
  ssmlFrame,
} from "./edge-client.js";

const sandbox = await startSandbox();
const { faults, urls } = sandbox;
after(() => sandbox.close());
beforeEach(() => Object.assign(faults, noFaults()));

const TEXT = "Your table is booked.";

function speak(frames = [configFrame(), ssmlFrame(TEXT)], turns = 1): Promise<EdgeAnswer> {
  return edgeConversation(edgeUrl(urls.edge), frames, turns);
}

test("the token of the service is the documented one", () => {
  const known = "42301B335578FEFDAE2637DED1ABD614505D432559EC08032B82048483726AFF";
  assert.equal(edgeToken(1_700_000_000_000), known);
  assert.equal(edgeToken(1_700_000_099_999), known);
  assert.match(edgeToken(1_700_000_100_000), /^AE4CF72E4668/);
});

test("a text is answered by start, response, audio frames, an empty last one and the end", async () => {
  const { story, mp3 } = await speak();

  assert.deepEqual(story.slice(0, 2), ["turn.start", "response"]);
  assert.deepEqual(story.slice(-2), ["audio last 0", "turn.end"]);
  assert.ok(story.slice(2, -2).every((line) => line.startsWith("audio mpeg ")));
  assert.ok(story.some((line) => Number(line.split(" ")[2] ?? 0) % 144 !== 0));
  assert.equal(await recognizeMp3(mp3), TEXT);
});

test("entities are spoken as what they stand for", async () => {
  const { mp3 } = await speak([
    configFrame(),
    ssmlFrame("Tom &amp; &#74;erry &lt;3 &quot;&#xF1;&quot;"),
  ]);

  assert.equal(await recognizeMp3(mp3), 'Tom & Jerry <3 "ñ"');
});

test("one socket takes several texts, one after another", async () => {
  const { story, mp3 } = await speak([configFrame(), ssmlFrame("One."), ssmlFrame("Two.")], 2);

  assert.equal(story.filter((line) => line === "turn.start").length, 2);
  assert.equal(await recognizeMp3(mp3), "One. Two.");
});

test("a slower rate takes longer, and the 96 kbit/s format twice the bytes", async () => {
  const usual = await speak();
  const slow = await speak([configFrame(), ssmlFrame(TEXT, "-50%")]);
  const better = await speak([configFrame("audio-24khz-96kbitrate-mono-mp3"), ssmlFrame(TEXT)]);

  assert.ok(mp3DurationMs(slow.mp3) > 1.8 * mp3DurationMs(usual.mp3));
  assert.equal(mp3DurationMs(better.mp3), mp3DurationMs(usual.mp3));
  assert.equal(better.mp3.length, 2 * usual.mp3.length);
});

test("word boundaries arrive between the audio on request", async () => {
  const { story } = await speak([configFrame(undefined, "true"), ssmlFrame(TEXT)]);

  assert.equal(story.indexOf("audio.metadata"), 3);
});

test("a text of punctuation only has no audio", async () => {
  assert.deepEqual((await speak([configFrame(), ssmlFrame("...")])).story, [
    "turn.start",
    "response",
    "turn.end",
  ]);
});

test("a wrong token, an old browser or a malformed id is refused with 403 and the service's time", async () => {
  const changes = [
    { "Sec-MS-GEC": edgeToken(Date.now(), 3) },
    { "Sec-MS-GEC": edgeToken(Date.now()).toLowerCase() },
    { "Sec-MS-GEC-Version": "1-130.0.2849.68" },
    { TrustedClientToken: "x" },
    { ConnectionId: "01234567-89abcdef-0123-456789abcdef" },
  ];
  for (const change of changes) {
    const { status, headers } = await refusedUpgrade(edgeUrl(urls.edge, change), {});
    assert.equal(status, 403, JSON.stringify(change));
    assert.ok(Math.abs(Date.parse(headers.date ?? "") - Date.now()) < 2000);
  }
});

test("when the clocks differ, the token of the service's own time is good", async () => {
  faults.edge = { skewMs: 3_600_000 };
  const { status, headers } = await refusedUpgrade(edgeUrl(urls.edge), {});
  const serverMs = Date.parse(headers.date ?? "");
  const corrected = edgeUrl(urls.edge, { "Sec-MS-GEC": edgeToken(serverMs) });

  assert.equal(status, 403);
  assert.ok((await edgeConversation(corrected, [configFrame(), ssmlFrame("Hi.")])).mp3.length > 0);
});

test("frames that the service does not take close the socket", async () => {
  const frames: [frames: string[], code: number][] = [
    [[ssmlFrame(TEXT)], 1007],
    [[configFrame("raw-8khz-8bit-mono-mulaw"), ssmlFrame(TEXT)], 1007],
    [[configFrame(), ssmlFrame("fish & chips")], 1007],
    [[configFrame(), ssmlFrame("<b>no</b>")], 1007],
    [[configFrame(), ssmlFrame(TEXT, "quickly")], 1007],
    [[configFrame(), ssmlFrame(TEXT, "+0%", "not-hex")], 1007],
    [[configFrame(), ssmlFrame("a".repeat(4097))], 1009],
    [["no empty line"], 1007],
  ];
  for (const [sent, code] of frames) assert.equal((await speak(sent)).closeCode, code, sent.at(-1));
});

test("the faults of the service", async () => {
  const withFault = (fault: EdgeFault): Promise<EdgeAnswer> => {
    faults.edge = { fault, times: 1 };
    return speak();
  };
  assert.deepEqual((await withFault("turnEndWithoutAudio")).story, [
    "turn.start",
    "response",
    "turn.end",
  ]);
  const closed = await withFault("closeWithoutTurnEnd");
  assert.equal(closed.closeCode, 1000);
  assert.ok(closed.mp3.length > 0 && !closed.story.includes("turn.end"));
  assert.equal((await withFault("disconnectMidStream")).closeCode, 1006);
  assert.equal((await withFault("disconnectBeforeFirstByte")).mp3.length, 0);
  assert.equal(await recognizeMp3((await withFault("garbage")).mp3), "");
  for (const [fault, status] of [
    ["clockSkew", 403],
    ["unauthorized", 403],
    ["rateLimited", 429],
    ["serverError", 503],
  ] as const) {
    faults.edge = { fault, times: 1 };
    assert.equal((await refusedUpgrade(edgeUrl(urls.edge), {})).status, status);
  }
  assert.equal(await recognizeMp3((await speak()).mp3), TEXT);
});

test("the list of voices is there", async () => {
  const url = new URL(urls.edge.replace("ws:", "http:").replace("edge/v1", "voices/list"));
  url.searchParams.set("trustedclienttoken", EDGE_TRUSTED_CLIENT_TOKEN);

  assert.equal((await fetch(url)).status, 200);
});
