import assert from "node:assert/strict";
import { test } from "node:test";
import {
  agentRefused,
  callRefusedErrorOf,
  cannotBeStored,
  serverStops,
  tooManyCalls,
} from "../../../engine/calls/call-refused-error.js";
import { AgentUnavailableError } from "../../../engine/tenancy/agents/agent-for-call.js";
import { StorageOverloadedError } from "../../../storage/statements/storage-error.js";

test("an agent that takes no calls is refused for what has to be done about it", () => {
  const refused = (["notFound", "inactive", "paused_provider", "paused_plan"] as const).map(
    (status) => {
      const { reason, message } = agentRefused(
        new AgentUnavailableError(status, `it is ${status}`),
      );
      return [reason, message];
    },
  );
  assert.deepEqual(refused, [
    ["agentNotFound", "it is notFound"],
    ["agentNotFound", "it is inactive"],
    ["providerUnavailable", "it is paused_provider"],
    ["modelNotAllowed", "it is paused_plan"],
  ]);
});

test("every other refusal has its reason, too", () => {
  const told = [cannotBeStored("it is full"), tooManyCalls(3), serverStops()].map(
    ({ reason, message }) => [reason, message],
  );
  assert.deepEqual(told, [
    ["storeFailing", "the server takes no calls for the moment: it is full"],
    ["limitReached", "the plan allows 3 calls at the same time"],
    ["serverStopping", "the server is restarting"],
  ]);
});

test("an error is a refusal where it is one, or the store is to blame", () => {
  const refusal = tooManyCalls(1);
  assert.equal(callRefusedErrorOf(refusal), refusal);
  const overloaded = new StorageOverloadedError(10);
  const ofStore = callRefusedErrorOf(overloaded);
  assert.deepEqual([ofStore?.reason, ofStore?.cause], ["storeFailing", overloaded]);
  assert.equal(callRefusedErrorOf(new Error("a mistake")), undefined);
});
