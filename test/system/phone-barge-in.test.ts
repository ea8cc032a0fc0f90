import assert from "node:assert/strict";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { after, before, describe, test } from "node:test";
import { FRAME_MS } from "../../engine/sandbox/sound/microphone-clock.js";
import type { PhoneCaller } from "../../engine/sandbox/telephone/phone-caller.js";
import { encodeMuLaw } from "../../engine/sandbox/telephone/telephone-audio.js";
import { humanVoice } from "../engine/sandbox/sound.js";
import { COUNT, cleared, closeServer, heard, PacerWatch, ring } from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

const RATE_HZ = 8000;
const FRAME_SAMPLES = 160;
/** Long enough to count as a voice, too short to be words. */
const COUGH_FRAMES = 3;

/**
 * If the machine is held up for longer than this, the echo returns later than in any room, and the test proves nothing.
 */
const HELD_UP_MAX_MS = 100;
const LOOP_RESOLUTION_MS = 10;
const TRIES_MAX = 5;

const clock = new PacerWatch();
let server: TestServer;
before(async () => {
  server = await TestServer.start({ clock });
});
after(() => closeServer(server, clock));

async function customerWithAgent(thresholds = {}): Promise<Customer> {
  const customer = await server.customer();
  await server.agent(customer, { thresholds });
  return customer;
}

function cough(caller: PhoneCaller): void {
  const sound = encodeMuLaw(humanVoice(COUGH_FRAMES * FRAME_MS, RATE_HZ));
  for (let at = 0; at < sound.length; at += FRAME_SAMPLES) {
    const payload = Buffer.from(sound.subarray(at, at + FRAME_SAMPLES)).toString("base64");
    const media = { track: "inbound", payload };
    caller.send(JSON.stringify({ event: "media", streamSid: caller.streamSid, media }));
  }
}

/** The longest gap in the agent's audio while it had something to say. */
class Gaps {
  #lastNs: bigint | undefined;
  longestMs = 0;

  readonly onAudio = (_bytes: Uint8Array, atNs: bigint): void => {
    if (this.#lastNs !== undefined) {
      this.longestMs = Math.max(this.longestMs, Number(atNs - this.#lastNs) / 1e6);
    }
    this.#lastNs = atNs;
  };
}

/** Counts with the loudspeaker on, and returns the longest delay of this process's event loop. */
async function countedWithEcho() {
  const customer = await customerWithAgent();
  const loop = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  loop.enable();
  const caller = await ring(server, customer);
  await caller.say("count to 9");
  caller.speakerPhone.isOn = true;
  const isOver = () => caller.events.some(cleared) || caller.playedText().includes("Number 9.");
  while (!isOver()) await caller.until(() => true);
  await caller.hangUp();
  const call = await server.endedCall(customer);
  // The echo of the last words can arrive until the end of the call.
  loop.disable();
  return { caller, call, heldUpMs: loop.max / 1e6 };
}

describe("an agent that is speaking", { concurrency: true }, () => {
  test("pauses at a cough and resumes at the same position, so that everything is heard once and in order", async () => {
    const customer = await customerWithAgent();
    const gaps = new Gaps();
    const caller = await ring(server, customer, { onAudio: gaps.onAudio });
    await caller.say("count to 9");
    await heard(caller, "Number 2.");
    cough(caller);
    await heard(caller, "Number 9.");
    await caller.hangUp();
    const call = await server.endedCall(customer);
    assert.equal(caller.playedText(), COUNT);
    assert.equal(caller.said(), COUNT);
    assert.ok(gaps.longestMs > 900, `it stood still for ${gaps.longestMs} ms`);
    assert.equal(caller.events.filter(cleared).length, 0);
    assert.equal(call.metrics.interruptions, 0);
    assert.deepEqual(
      call.transcript.map(({ role, text }) => `${role}: ${text}`),
      ["user: count to 9", `assistant: ${COUNT}`],
    );
  });

  test("pauses at each of two coughs", async () => {
    const customer = await customerWithAgent();
    const caller = await ring(server, customer);
    await caller.say("count to 9");
    await heard(caller, "Number 2.");
    cough(caller);
    await heard(caller, "Number 5.");
    cough(caller);
    await heard(caller, "Number 9.");
    await caller.hangUp();
    const call = await server.endedCall(customer);
    assert.equal(caller.playedText(), COUNT);
    assert.equal(call.transcript[1]?.text, COUNT);
    assert.equal(call.metrics.interruptions, 0);
  });

  test("is interrupted by words after a cough, and does not resume the rest", async () => {
    const customer = await customerWithAgent();
    const caller = await ring(server, customer);
    await caller.say("count to 9");
    await heard(caller, "Number 2.");
    cough(caller);
    const clear = caller.until(cleared);
    await caller.say("say bye");
    await clear;
    await heard(caller, "bye");
    await caller.hangUp();
    const call = await server.endedCall(customer);
    assert.equal(caller.events.filter(cleared).length, 1);
    assert.ok(!caller.playedText().includes("Number 9."));
    assert.deepEqual(
      call.transcript.filter(({ role }) => role === "user").map(({ text }) => text),
      ["count to 9", "say bye"],
    );
    const cut = call.transcript[1]?.text.split(" ") ?? [];
    const played = caller.playedText().replace(/ bye$/, "").split(" ");
    assert.ok(Math.abs(cut.length - played.length) <= 1, `${cut.join(" ")} / ${played.join(" ")}`);
  });

  test("is not interrupted by the echo of its own words", async () => {
    let told = await countedWithEcho();
    for (let tries = 1; told.heldUpMs > HELD_UP_MAX_MS && tries < TRIES_MAX; tries += 1) {
      told = await countedWithEcho();
    }
    const { caller, call } = told;
    assert.equal(caller.playedText(), COUNT);
    assert.equal(caller.events.filter(cleared).length, 0);
    assert.equal(call.metrics.interruptions, 0);
    assert.deepEqual(
      call.transcript.map(({ role, text }) => `${role}: ${text}`),
      ["user: count to 9", `assistant: ${COUNT}`],
    );
  });

  test("pauses at a sound with high sensitivity, too, and repeats nothing", async () => {
    const customer = await customerWithAgent({ interruptionSensitivity: "high" });
    const caller = await ring(server, customer);
    await caller.say("count to 9");
    await heard(caller, "Number 2.");
    cough(caller);
    await heard(caller, "Number 9.");
    await caller.hangUp();
    const call = await server.endedCall(customer);
    assert.equal(caller.playedText(), COUNT);
    assert.equal(caller.events.filter(cleared).length, 0);
    assert.equal(call.transcript[1]?.text, COUNT);
  });
});

test("a cough in silence starts no turn", async () => {
  const customer = await customerWithAgent();
  const caller = await ring(server, customer);
  cough(caller);
  await caller.say("say bye");
  await heard(caller, "bye");
  await caller.hangUp();
  const call = await server.endedCall(customer);
  assert.deepEqual(
    call.transcript.map(({ text }) => text),
    ["say bye", "bye"],
  );
  assert.ok(COUGH_FRAMES * FRAME_MS < 100);
});
