import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import * as v from "valibot";
import { decodeMuLaw } from "../../engine/sandbox/telephone/telephone-audio.js";
import type { AgentInput } from "../../engine/tenancy/agents/agent-input.js";
import { VendorCall } from "./phone-vendor-call.js";
import { VENDOR_STREAMS, type VendorStream } from "./phone-vendor-streams.js";
import {
  closeOfPhone,
  closeServer,
  heard,
  PacerWatch,
  ring,
  streamUrl,
  webhookUrl,
} from "./telephone-stand.js";
import { type Customer, TestServer } from "./test-server.js";

const RATE_HZ = 8000;
/** Half the length of a DTMF tone, so that at least one piece lies within it. */
const PIECE_SAMPLES = 400;

const clock = new PacerWatch();
let server: TestServer;
before(async () => {
  server = await TestServer.start({ clock, environment: { ALLOW_PRIVATE_PROVIDERS: "true" } });
});
after(() => closeServer(server, clock));

async function customerWith(tools: NonNullable<AgentInput["tools"]>): Promise<Customer> {
  const customer = await server.customer();
  await server.agent(customer, { tools, persona: { greeting: "Hi." } });
  return customer;
}

/** Returns the tools in the records of a call's turns. */
const ToldTools = v.object({
  turns: v.array(
    v.object({
      tools: v.optional(
        v.array(v.object({ name: v.string(), input: v.string(), output: v.string() })),
        [],
      ),
    }),
  ),
});

/** A caller of the vendor whose stream is open, so that its audio can be looked at. */
async function streamOf(customer: Customer, stream: VendorStream): Promise<VendorCall> {
  const response = await fetch(webhookUrl(server, customer), { method: "POST" });
  const token = /value="([0-9a-f]+)"/.exec(await response.text())?.[1] ?? "";
  const call = await VendorCall.connect(streamUrl(server), stream);
  call.send(stream.start(token));
  return call;
}

async function threeKeysOf(call: VendorCall): Promise<string> {
  let audio = Buffer.alloc(0);
  await call.changes.until("the keys", () => {
    audio = Buffer.concat([audio, call.takeAudio()]);
    return keysIn(decodeMuLaw(audio)).length === 3;
  });
  return keysIn(decodeMuLaw(audio));
}

const lines = (call: { transcript: readonly { role: string; text: string }[] }) =>
  call.transcript.map(({ role, text }) => `${role}: ${text}`);

describe("an agent on the telephone", { concurrency: true }, () => {
  test("hangs up after its goodbye was heard", async () => {
    const customer = await customerWith([{ type: "hangup" }]);
    const caller = await ring(server, customer);
    await heard(caller, "Hi.");
    await caller.say("goodbye");
    const { code } = await closeOfPhone(caller);
    assert.equal(code, 1000);
    assert.equal(caller.playedText(), "Hi. Thank you for calling, goodbye.");
    const call = await server.endedCall(customer);
    assert.equal(call.metadata["endReason"], "agentHungUp");
    assert.equal(call.status, "completed");
    assert.deepEqual(lines(call), [
      "assistant: Hi.",
      "user: goodbye",
      "assistant: Thank you for calling, goodbye.",
    ]);
  });

  test("promises no impossible transfer, and the call continues", async () => {
    const customer = await customerWith([{ type: "transfer", to: "+15550003333" }]);
    const caller = await ring(server, customer);
    await heard(caller, "Hi.");
    await caller.say("transfer me");
    await heard(caller, "You said");
    await caller.say("say thank you");
    await heard(caller, "thank you");
    assert.doesNotMatch(caller.playedText(), /I will transfer you/);
    await caller.hangUp();
    const call = await server.endedCall(customer);
    assert.equal(call.metadata["endReason"], "callerLeft");
  });

  test("sends DTMF digits, whose tones are heard in order", async () => {
    const customer = await customerWith([{ type: "sendDigits" }]);
    const stream = VENDOR_STREAMS["Twilio in µ-law"];
    assert.ok(stream);
    const call = await streamOf(customer, stream);
    call.say("press 1 2 3");
    assert.equal(await threeKeysOf(call), "123");
    await call.end();
    await server.endedCall(customer);
  });

  test("DTMF that a member of the organization orders is heard as tones", async () => {
    const customer = await customerWith([]);
    const stream = VENDOR_STREAMS["Twilio in µ-law"];
    assert.ok(stream);
    const call = await streamOf(customer, stream);
    assert.equal(await call.said(1), "Hi.");
    call.play();
    const [live] = await server.calls(customer);
    const order = (digits: string) =>
      fetch(`${server.url}/api/dashboard/calls/${live?.id}/dtmf`, {
        method: "POST",
        headers: { "x-api-key": customer.apiKey, "content-type": "application/json" },
        body: JSON.stringify({ digits }),
      });
    for (const wrong of ["", "12x", "1".repeat(41)])
      assert.equal((await order(wrong)).status, 400, wrong);
    assert.equal((await order("4#2")).status, 200);
    assert.equal(await threeKeysOf(call), "4#2");
    await call.end();
    await server.endedCall(customer);
  });

  test("says the response of the organization's own service", async () => {
    const service = await startService("The order has been sent.");
    try {
      const parameters = {
        type: "object",
        properties: { order: { type: "string" } },
        required: ["order"],
      };
      const { port } = service.address() as AddressInfo;
      const customer = await customerWith([
        {
          type: "http",
          name: "look_up",
          description: "Looks up an order.",
          parameters,
          url: `http://127.0.0.1:${port}/orders`,
          method: "GET",
          timeoutMs: 2_000,
          speak: true,
        },
      ]);
      const caller = await ring(server, customer);
      await heard(caller, "Hi.");
      await caller.say("use look up please");
      await heard(caller, "The order has been sent.");
      await caller.hangUp();
      const call = await server.endedCall(customer);
      assert.equal(lines(call).at(-1), "assistant: The order has been sent.");
      const { turns } = v.parse(ToldTools, call.metadata);
      const [use, ...others] = turns.flatMap(({ tools }) => tools);
      assert.deepEqual(others, []);
      assert.equal(use?.name, "look_up");
      assert.match(use?.input ?? "", /"order"/);
      const answer = { ok: true, status: 200, body: "The order has been sent." };
      assert.equal(use?.output, JSON.stringify(answer));
    } finally {
      service.close();
    }
  });

  test("the LLM receives the digits that the caller presses as the caller's words", async () => {
    const customer = await customerWith([]);
    const caller = await ring(server, customer);
    await heard(caller, "Hi.");
    for (const key of "42#") caller.press(key);
    await heard(caller, "message number 1");
    await caller.hangUp();
    const call = await server.endedCall(customer);
    const [, said, answer] = call.transcript;
    assert.equal(said?.role, "user");
    assert.match(said?.text ?? "", /4 ?2/);
    assert.ok(answer?.text.includes("42") || answer?.text.includes("4 2"), answer?.text);
  });

  test("digits that are pressed before the agent is ready are not lost", async () => {
    const customer = await server.customer();
    await server.agent(customer);
    const caller = await ring(server, customer);
    for (const key of "42#") caller.press(key);
    await heard(caller, "message number 1");
    await caller.hangUp();
    const call = await server.endedCall(customer);
    assert.match(call.transcript[0]?.text ?? "", /4 ?2/);
  });

  test("digits that interrupt the agent clear its remaining audio", async () => {
    const customer = await customerWith([]);
    const caller = await ring(server, customer);
    await heard(caller, "Hi.");
    await caller.say("count to 20");
    await heard(caller, "Number 1.");
    caller.press("7");
    await caller.until(({ type }) => type === "clear");
    caller.press("#");
    await heard(caller, "You said");
    await caller.hangUp();
    const call = await server.endedCall(customer);
    assert.equal(call.metrics.interruptions, 1);
    assert.match(call.transcript[3]?.text ?? "", /7/);
  });
});

async function startService(answer: string): Promise<Server> {
  const service = createServer((_request, response) => {
    response.setHeader("content-type", "text/plain");
    response.end(answer);
  });
  await new Promise<void>((resolve) => {
    service.listen(0, "127.0.0.1", resolve);
  });
  return service;
}

const LOW_HZ = [697, 770, 852, 941];
const HIGH_HZ = [1209, 1336, 1477, 1633];
const KEYS = "123A456B789C*0#D";

/** Returns the DTMF digits in the audio, each once. */
function keysIn(pcm: Int16Array): string {
  let keys = "";
  let last: string | undefined;
  for (let at = 0; at + PIECE_SAMPLES <= pcm.length; at += PIECE_SAMPLES / 2) {
    const key = keyOf(pcm.subarray(at, at + PIECE_SAMPLES));
    if (key !== undefined && key !== last) keys += key;
    last = key;
  }
  return keys;
}

function keyOf(piece: Int16Array): string | undefined {
  const energy = piece.reduce((sum, sample) => sum + sample * sample, 0);
  const best = (tones: readonly number[]) => {
    const shares = tones.map((hz) => power(piece, hz) / Math.max(1, energy));
    const most = Math.max(...shares);
    return most > 0.35 ? shares.indexOf(most) : undefined;
  };
  const low = best(LOW_HZ);
  const high = best(HIGH_HZ);
  return low === undefined || high === undefined ? undefined : KEYS[low * 4 + high];
}

/** The energy of one tone in the piece (Goertzel), relative to the energy of the whole piece. */
function power(piece: Int16Array, hz: number): number {
  const coefficient = 2 * Math.cos((2 * Math.PI * hz) / RATE_HZ);
  let [previous, before] = [0, 0];
  for (const sample of piece) {
    [previous, before] = [sample + coefficient * previous - before, previous];
  }
  const sum = previous * previous + before * before - coefficient * previous * before;
  return (2 * sum) / piece.length;
}
