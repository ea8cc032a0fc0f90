import assert from "node:assert/strict";
import { test } from "node:test";
import {
  LANGUAGE_MODEL_FAILED,
  LISTENING_FAILED,
  ORGANIZATION_ENDED,
  SPEECH_FAILED,
  transferredByOrganization,
} from "../../../engine/conversation/call-end.js";
import { newConversation } from "../../../engine/conversation/state.js";
import { providerFailureEnd } from "../../../engine/conversation/transfer.js";
import { PLAIN_SETTINGS, RecordedCall } from "../../doubles/recorded-call.js";

const TO = "+15550001111";
const tools = [{ kind: "transfer", name: "transfer", to: TO }] as const;

/** The vendor was just asked to take the call on, as the end of the first turn. */
function transferringCall(settings: Partial<typeof PLAIN_SETTINGS> = {}): RecordedCall {
  const call = new RecordedCall({ ...PLAIN_SETTINGS, tools, ...settings });
  call.send({ type: "opened", resumed: true });
  call.send({ type: "written", text: "a human please" });
  const toolCalls = [{ id: "a", name: "transfer", argumentsJson: "{}" }];
  call.send({ type: "replyDone", turnId: 1, tokens: 5, toolCalls });
  call.clock.advance(0);
  assert.equal(call.actor.state.transfer?.turnId, 1);
  call.takeLines();
  return call;
}

const saying = (call: RecordedCall) => call.turn?.kind;
const refuse = (call: RecordedCall, turnId: number) =>
  call.send({ type: "transferRefused", turnId });

test("a call that is refused goes on here, and its caller is told", () => {
  const call = transferringCall();
  refuse(call, 1);
  assert.equal(saying(call), "transferRefused");
  assert.ok(!call.pendingDeadlines.includes("transfer"));
});

test("a refusal of another transfer, or of none, changes nothing", () => {
  const call = transferringCall();
  const { state } = call.actor;
  refuse(call, 0);
  assert.deepEqual(call.takeLines(), []);
  assert.equal(call.actor.state, state);
  const none = new RecordedCall(PLAIN_SETTINGS);
  none.send({ type: "opened", resumed: true });
  none.takeLines();
  refuse(none, 0);
  none.send({ type: "transferTaken", turnId: 0 });
  assert.deepEqual(none.takeLines(), []);
  assert.deepEqual(none.crashes, []);
});

test("no answer in five seconds is none: the caller is told once, whatever comes later", () => {
  const call = transferringCall();
  call.clock.advance(4_999);
  assert.equal(saying(call), undefined);
  call.clock.advance(1);
  assert.equal(saying(call), "transferRefused");
  const turn = structuredClone(call.turn);
  call.takeLines();
  call.reach("transfer");
  refuse(call, 1);
  assert.deepEqual(call.takeLines(), []);
  assert.deepEqual(call.turn, turn);
  assert.equal(call.actor.state.transfer, undefined);
});

test("a vendor that takes the call late has taken it", () => {
  const call = transferringCall();
  call.clock.advance(5_000);
  call.send({ type: "transferTaken", turnId: 1 });
  assert.equal(call.actor.state.phase, "ended");
});

test("who is being told why the call has to end is not told of the transfer that was refused meanwhile", () => {
  const call = transferringCall();
  call.send({ type: "endRequested", ending: ORGANIZATION_ENDED });
  assert.equal(saying(call), "farewell");
  refuse(call, 1);
  assert.equal(saying(call), "farewell");
  assert.deepEqual(call.turn?.ending, ORGANIZATION_ENDED);
});

test("a stream that closes while the vendor is asked ends the call as the vendor's answer says", () => {
  const left = { reason: "callerLeft", status: "completed", message: "left" } as const;
  const endAfter = (answer: "transferTaken" | "transferRefused") => {
    const call = transferringCall();
    call.send({ type: "endRequested", ending: left });
    assert.equal(call.actor.state.phase, "transferring");
    call.send({ type: answer, turnId: 1 });
    const end = call.effects.find(({ type }) => type === "end");
    return end?.type === "end" ? end.ending.reason : undefined;
  };
  assert.equal(endAfter("transferTaken"), "transferred");
  assert.equal(endAfter("transferRefused"), "callerLeft");
});

test("a call that has lost its vendors is handed on where the agent wants that and has somebody to hand it to", () => {
  const transferTo = (
    onProviderFailure: "end" | "transfer",
    given: (typeof PLAIN_SETTINGS)["tools"],
  ) => {
    const state = newConversation({ ...PLAIN_SETTINGS, onProviderFailure, tools: given }, []);
    return [LANGUAGE_MODEL_FAILED, SPEECH_FAILED, LISTENING_FAILED].map((ending) => {
      const lost = providerFailureEnd(state, ending);
      assert.equal(lost.reason, ending.reason);
      return lost.transferTo;
    });
  };
  assert.deepEqual(transferTo("end", tools), [undefined, undefined, undefined]);
  assert.deepEqual(transferTo("transfer", tools), [TO, TO, TO]);
  assert.deepEqual(transferTo("transfer", []), [undefined, undefined, undefined]);
});

const ORDERED = transferredByOrganization(TO);
const order = (call: RecordedCall) => call.send({ type: "endRequested", ending: ORDERED });

/** The greeting was heard. */
function liveCall(): RecordedCall {
  const call = new RecordedCall(PLAIN_SETTINGS);
  call.send({ type: "opened", resumed: true });
  call.takeLines();
  return call;
}

test("a transfer that the organization orders is announced, and made once that was heard", () => {
  const call = liveCall();
  order(call);
  assert.equal(saying(call), "farewell");
  assert.deepEqual(call.turn?.ending, ORDERED);
  const sentences = call.effects.filter(({ type }) => type === "synthesize");
  assert.match(JSON.stringify(sentences), /I will put you through\./);
  assert.equal(call.actor.state.phase, "live", "the call has not ended");
  order(call);
  assert.deepEqual(call.turn?.ending, ORDERED, "a second order changes nothing");
});

test("an ordered transfer does not stop a goodbye, and is none before the call is open", () => {
  const leaving = liveCall();
  leaving.send({ type: "endRequested", ending: ORGANIZATION_ENDED });
  order(leaving);
  assert.deepEqual(leaving.turn?.ending, ORGANIZATION_ENDED);
  const opening = new RecordedCall(PLAIN_SETTINGS);
  order(opening);
  assert.equal(opening.actor.state.phase, "opening");
});
