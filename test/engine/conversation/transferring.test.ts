import assert from "node:assert/strict";
import { test } from "node:test";
import {
  LANGUAGE_MODEL_FAILED,
  LISTENING_FAILED,
  ORGANIZATION_ENDED,
  SPEECH_FAILED,
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

test("who is being told why the call has to end is not told of the transfer that was refused meanwhile", () => {
  const call = transferringCall();
  call.send({ type: "endRequested", ending: ORGANIZATION_ENDED });
  assert.equal(saying(call), "farewell");
  refuse(call, 1);
  assert.equal(saying(call), "farewell");
  assert.deepEqual(call.turn?.ending, ORGANIZATION_ENDED);
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
