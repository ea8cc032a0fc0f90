import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Caller } from "../../../engine/sandbox/caller.js";
import { speak } from "../../../engine/sandbox/sound/simulated-voice.js";
import { BareVoiceService } from "./voice-service.js";

let service: BareVoiceService;
before(async () => {
  service = await BareVoiceService.start();
});
after(() => service.close());

const mp3Of = (text: string): Promise<Uint8Array> =>
  speak(text, { codec: "mp3", sampleRateHz: 24_000 });

test("a caller names its agent and its history, and speaks in frames of 20 ms", async () => {
  const caller = await Caller.connect({
    url: service.url,
    apiKey: "vk_1",
    agentId: "a1",
    sessionId: "s1",
  });
  const startMs = performance.now();
  const { startNs, endNs } = await caller.say("hello over there");
  const tookMs = performance.now() - startMs;
  await caller.say("again");
  await caller.hangUp();

  const query = new URL(service.paths.at(-1) ?? "", "http://x").searchParams;
  assert.deepEqual(Object.fromEntries(query), {
    api_key: "vk_1",
    agent_id: "a1",
    session_id: "s1",
  });
  assert.match(service.paths.at(-1) ?? "", /^\/ws\/voice\?/);
  assert.deepEqual(service.words.slice(0, 3), ["hello", "over", "there"]);
  assert.deepEqual([...service.frameSizes], [640]);
  assert.ok(tookMs >= Number(endNs - startNs) / 1e6);
  assert.equal(caller.historyKey, "key-1");
});

test("events are awaited in the order in which they come, each once", async () => {
  const caller = await Caller.connect({ url: service.url, apiKey: "vk_1" });
  service.tell({ type: "audioEnd" });
  service.tell({ type: "transcript", payload: { role: "user", text: "hi", isFinal: true } });
  service.tell({ type: "audioEnd" });

  await caller.until(({ type }) => type === "audioEnd");
  await caller.until(({ type }) => type === "audioEnd");
  await assert.rejects(
    caller.until(({ type }) => type === "audioEnd", 30),
    /nothing of that kind within 30 ms: .*user "hi"/,
  );
  assert.deepEqual(
    caller.events.map(({ type }) => type),
    ["connected", "audioEnd", "transcript", "audioEnd"],
  );
  const hopeless = assert.rejects(
    caller.until(({ type }) => type === "error"),
    /the call ended/,
  );
  await caller.hangUp();
  await hopeless;
  await assert.rejects(caller.say("too late"), /over/);
});

test("the agent's words are heard, in order, and no more of stopped ones", async () => {
  const caller = await Caller.connect({ url: service.url, apiKey: "vk_1" });
  service.play(await mp3Of("You will not hear the end of this."));
  service.play(await mp3Of("Nor any of this."));
  service.tell({ type: "audioStop" });
  service.play(await mp3Of("Yes?"));
  for (let n = 0; n < 3; n += 1) await caller.until(({ type }) => type === "audio");
  const heard = await caller.playedReplies();
  await caller.hangUp();

  assert.deepEqual(
    heard.map(({ text }) => text),
    ["You will not hear the end of this.", "Nor any of this.", "Yes?"],
  );
  assert.notEqual(heard[0]?.playedText, heard[0]?.text);
  assert.equal(heard[1]?.playedText, "");
});

test("a refused call reports the close code", async () => {
  await assert.rejects(
    Caller.connect({ url: service.url, apiKey: "bad" }),
    /refused: 4001 unauthorized/,
  );
  const caller = Caller.dial({ url: service.url, apiKey: "bad" });
  const event = await caller.until(({ type }) => type === "closed");

  assert.ok(event.type === "closed" && event.code === 4001);
  await assert.rejects(Caller.connect({ url: "http://127.0.0.1:9", apiKey: "x" }), /refused: 1006/);
});

test("a muted caller sends nothing, and what is said instead takes the place of what was being said", async () => {
  const caller = await Caller.connect({ url: service.url, apiKey: "vk_1" });
  await caller.say("ok");
  caller.mute();
  const elsewhere = await BareVoiceService.start();
  const other = await Caller.connect({ url: elsewhere.url, apiKey: "vk_1" });
  await other.say("a");
  const before = service.frames;
  await other.say("b");
  await other.hangUp();
  elsewhere.close();
  assert.equal(service.frames, before);
  caller.mute(false);
  const dropped = assert.rejects(caller.say("a long story that nobody wants"), /interrupted/);
  await caller.interrupt("stop");
  await dropped;
  await caller.say("now");
  await caller.hangUp();

  assert.ok(service.words.includes("stop"));
});

test("a text that is no message of the service is reported as unreadable", async () => {
  const caller = await Caller.connect({ url: service.url, apiKey: "vk_1" });
  service.tell({ type: "surprise" });
  const event = await caller.until(({ type }) => type === "unreadable");
  caller.drop();
  await caller.until(({ type }) => type === "closed");

  assert.ok(event.type === "unreadable" && event.text.includes("surprise"));
});
