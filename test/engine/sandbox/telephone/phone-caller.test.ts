import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, test } from "node:test";
import {
  PhoneCaller,
  type PhoneCallerOptions,
} from "../../../../engine/sandbox/telephone/phone-caller.js";
import { encodeSpeech } from "../../../../engine/sandbox/telephone/tone-code.js";
import { AUTH_TOKEN, BarePhoneService, type ServedCall } from "../phone-service.js";

let service: BarePhoneService;
before(async () => {
  service = await BarePhoneService.start();
});
after(() => service.close());

/** A call that has been admitted, and the service's side of it. */
async function call(
  options: PhoneCallerOptions = {},
): Promise<{ caller: PhoneCaller; served: ServedCall }> {
  const caller = await PhoneCaller.call({ webhookUrl: service.webhookUrl, ...options });
  const served = service.lastCall;
  while (options.faults?.noStart !== true && served.events.length === 0) {
    await once(served.socket, "message");
  }
  return { caller, served };
}

test("words reach the agent and the agent's words the caller, over webhook and stream", async () => {
  const { caller, served } = await call({ from: "+15550009999", authToken: AUTH_TOKEN });
  await caller.say("hello");
  served.say("Good day.");
  served.send(served.wire.mark("g1-s1"));
  await caller.until(({ type }) => type === "audio");
  await caller.until((event) => event.type === "markEchoed" && event.name === "g1-s1");
  await caller.hangUp();

  assert.equal(service.forms.at(-1)?.get("From"), "+15550009999");
  assert.equal(service.forms.at(-1)?.get("CallSid"), caller.callSid);
  assert.deepEqual(served.words, ["hello"]);
  assert.equal(caller.said(), "Good day.");
  assert.equal(caller.playedText(), "Good day.");
  const [started, ...rest] = served.events;
  assert.ok(started?.type === "started");
  assert.equal(started.streamId, caller.streamSid);
  assert.deepEqual(rest, [
    { type: "markReached", name: "g1-s1", wasPlayed: true },
    { type: "ended" },
  ]);
});

test("a clear stops the agent, and its marks come back at once and unheard", async () => {
  const { caller, served } = await call();
  served.say("I could talk about this for a very long time.");
  served.send(served.wire.mark("m1"));
  await caller.until(({ type }) => type === "mark");
  const startMs = performance.now();
  served.send(served.wire.clear());
  await caller.until(({ type }) => type === "markEchoed");
  const speechMs = encodeSpeech("I could talk about this for a very long time.", 8_000).length / 8;
  assert.ok(performance.now() - startMs < speechMs, "before it would have been heard");
  await caller.hangUp();

  assert.equal(caller.said(), "I could talk about this for a very long time.");
  assert.ok(caller.playedText().length < 20);
  assert.deepEqual(served.events.slice(1), [
    { type: "markReached", name: "m1", wasPlayed: false },
    { type: "ended" },
  ]);
});

test("words that are said while the stream closes are rejected when it has closed", async () => {
  const { caller } = await call();
  const hungUp = caller.hangUp();
  await assert.rejects(caller.say("one more thing"), /^Error: the call ended: 1000/);
  assert.equal(caller.events.at(-1)?.type, "closed");
  await hungUp;
  await assert.rejects(caller.say("one more thing"), /^Error: the call is over/);
});

test("digits, and a burst of speech", async () => {
  const { caller, served } = await call();
  caller.press("4");
  caller.press("#");
  caller.burst("two seconds at once are what a call brings");
  await caller.hangUp();
  await closed(served);

  assert.deepEqual(
    served.events.filter(({ type }) => type === "digit"),
    [
      { type: "digit", digit: "4" },
      { type: "digit", digit: "#" },
    ],
  );
  assert.equal(served.words.join(" "), "two seconds at once are what a call brings");
});

test("messages for a caller instead of an agent, and refused requests", async () => {
  service.refusal = "All lines are <busy>.";
  await assert.rejects(call(), /refused: "All lines are <busy>\."/);
  service.refusal = undefined;
  await assert.rejects(call({ authToken: "wrong" }), /the webhook answered 403/);
  await assert.rejects(
    PhoneCaller.call({ streamUrl: service.streamUrl, authToken: "wrong" }),
    /401/,
  );
  await assert.rejects(PhoneCaller.call({}), /a webhook or a stream/);
});

test("a stream without its token, or with one of another call, is closed", async () => {
  const tokenless = await PhoneCaller.call({ streamUrl: service.streamUrl });
  const end = await tokenless.until(({ type }) => type === "closed");
  assert.ok(end.type === "closed" && end.code === 4001 && end.reason === "malformed");
  const { caller, served } = await call();
  const [started] = served.events;
  assert.ok(started?.type === "started");
  const thief = await PhoneCaller.call({
    streamUrl: service.streamUrl,
    parameters: started.parameters,
  });
  const refused = await thief.until(({ type }) => type === "closed");
  assert.ok(refused.type === "closed" && refused.reason === "otherCall");
  await caller.hangUp();
});

test("the vendor's faults are available", async () => {
  const silent = await call({ faults: { noStart: true, mediaBeforeStart: 3 } });
  await silent.caller.say("a");
  await silent.caller.hangUp();
  await closed(silent.served);
  const reasons = silent.served.events.map((event) => "reason" in event && event.reason);
  assert.ok(reasons.filter((reason) => reason === "before the start").length > 3);
  assert.equal(silent.served.events.at(-1)?.type, "ended");

  const gaps = await call({ faults: { sequenceGapEvery: 2, closeWithoutStop: true } });
  gaps.caller.burst("abcdefghij");
  await gaps.caller.hangUp();
  await closed(gaps.served);
  assert.ok(gaps.served.frames >= 10 && gaps.served.frames < 30);
  assert.ok(gaps.served.events.every(({ type }) => type !== "ended"));

  const open = await call({ faults: { stopWithoutClose: true, marksNeverReturn: true } });
  open.served.send(open.served.wire.mark("m1"));
  await open.caller.until(({ type }) => type === "mark");
  await open.caller.hangUp();
  while (open.served.events.at(-1)?.type !== "ended") await once(open.served.socket, "message");
  assert.equal(open.served.socket.readyState, open.served.socket.OPEN);
  assert.ok(open.served.events.every(({ type }) => type !== "markReached"));
  open.caller.drop();
  await closed(open.served);
});

test("messages that the vendor would drop are reported as dropped", async () => {
  const { caller, served } = await call();
  const wrong = [
    "no JSON",
    '{"event":"clear","streamSid":"MZ-of-another-call"}',
    JSON.stringify({ event: "clear", streamSid: caller.streamSid, extra: 1 }),
    JSON.stringify({ event: "media", streamSid: caller.streamSid, media: { payload: "!" } }),
  ];
  for (const text of wrong) served.socket.send(text);
  for (const text of wrong) {
    const event = await caller.until(({ type }) => type === "dropped");
    assert.ok(event.type === "dropped" && event.text === text);
  }
  served.socket.close(1000, "bye");
  await assert.rejects(caller.say("on and on"), /the call ended: 1000 bye/);
  await assert.rejects(caller.say("too late"), /over/);
});

async function closed(served: ServedCall): Promise<void> {
  if (served.socket.readyState !== served.socket.CLOSED) await once(served.socket, "close");
}
