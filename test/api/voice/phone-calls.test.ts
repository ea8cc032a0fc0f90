import assert from "node:assert/strict";
import { test } from "node:test";
import { PhoneCalls } from "../../../api/voice/phone-calls.js";
import type { OrderAnswer } from "../../../engine/telephony/call-control.js";
import { twilioWire } from "../../../engine/telephony/twilio/twilio-wire.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";
import { VirtualClock } from "../../doubles/virtual-clock.js";

const CLAIMS = {
  vendor: "twilio",
  orgId: "org",
  agentId: "agent",
  callerRef: "CA1",
  callKey: "key",
  attempt: 1,
};
const START = JSON.stringify({
  event: "start",
  start: { streamSid: "MZ1", callSid: "CA1", customParameters: {} },
});

/**
 * The leg of a call at a vendor with a REST API, which a member of the organization wants to transfer. `answer`: the vendor's to a
 * blind transfer; left out, its account makes none.
 */
async function orderedLeg(mayTransfer: boolean, answer?: OrderAnswer) {
  const refused: string[] = [];
  const steps: string[] = [];
  const unexpected = () => assert.fail("nothing of this call is wanted");
  const calls = new PhoneCalls({
    organizations: { find: () => new Promise(() => {}) },
    opener: { open: unexpected, recordUnsupported: unexpected },
    outbound: { connect: unexpected },
    callControl: {
      canTransfer: async () => answer !== undefined,
      transfer: async (_account, callRef, { to }) => {
        steps.push(`order ${callRef} to ${to}`);
        return answer ?? assert.fail("no account");
      },
      hangUp: unexpected,
    },
    continuations: {
      conversationOf: unexpected,
      mayGoOn: () => false,
      mayTransfer: () => mayTransfer,
      transferTokenFor: () => "token",
      transferOrdered: async (_claims, to) => void steps.push(`note ${to}`),
      transferRefused: async (_claims, to) => void steps.push(`take back ${to}`),
      stored: unexpected,
    },
    warmTransfers: {
      refusalOf: unexpected,
      start: unexpected,
      refuse: async (_claims, { to }, reason) => void refused.push(`${to}: ${reason}`),
    },
    callInfos: { find: unexpected },
    baseUrl: () => "https://voice.example.com",
    audioPool: unexpected,
    clock: new VirtualClock(),
    log: new RecordingLogger(),
  });
  const wire = twilioWire();
  const [started] = wire.fromWire(Buffer.from(START), false);
  assert.ok(started?.type === "started");
  const leg = calls.startLeg({
    vendor: "twilio",
    socket: { send: () => {}, end: () => {}, getBufferedAmount: () => 0 },
    wire,
    started,
    redeem: () => CLAIMS,
  });
  await new Promise(setImmediate);
  return { leg, refused, steps };
}

for (const [mayTransfer, reason] of [
  [false, "the call's transfers have failed too often"],
  [true, "the telephony vendor cannot transfer the call"],
] as const) {
  test(`an ordered warm transfer is refused with its reason: ${reason}`, async () => {
    const { leg, refused } = await orderedLeg(mayTransfer);
    assert.equal(await leg.transfer("+15550101000", "Ada asks.", true), false);
    assert.deepEqual(refused, [`+15550101000: ${reason}`]);
  });
}

test("an agent's own transfer that cannot start leaves no refusal in the record", async () => {
  const { leg, refused } = await orderedLeg(false);
  assert.equal(await leg.transfer("+15550101000", "Ada asks."), false);
  assert.equal(await leg.transfer("+15550101000"), false);
  assert.deepEqual(refused, []);
});

for (const [answer, isTransferred, ...after] of [
  ["taken", true],
  ["refused", false, "take back +15550101000"],
  ["unknown", false],
] as const) {
  test(`a transfer by REST is noted before it is ordered, and stays noted unless it is refused: ${answer}`, async () => {
    const { leg, steps } = await orderedLeg(true, answer);
    assert.equal(await leg.transfer("+15550101000"), isTransferred);
    assert.deepEqual(steps, ["note +15550101000", "order CA1 to +15550101000", ...after]);
  });
}
