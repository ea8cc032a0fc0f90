import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AGENT_HUNG_UP,
  CALLER_LEFT,
  CALLER_SILENT,
  CALLER_TOO_FAST,
  END_REASONS,
  isBreak,
  isRevocable,
  LANGUAGE_MODEL_FAILED,
  LISTENING_FAILED,
  ORGANIZATION_ENDED,
  SPEECH_FAILED,
} from "../../../engine/conversation/call-end.js";

test("a call that somebody wanted to end is completed, and one that could not go on has failed", () => {
  const endings = [
    AGENT_HUNG_UP,
    CALLER_LEFT,
    CALLER_SILENT,
    ORGANIZATION_ENDED,
    CALLER_TOO_FAST,
    LANGUAGE_MODEL_FAILED,
    LISTENING_FAILED,
    SPEECH_FAILED,
  ];
  assert.deepEqual(
    endings.map(({ reason, status }) => `${reason}: ${status}`),
    [
      "agentHungUp: completed",
      "callerLeft: completed",
      "callerIdle: completed",
      "organizationEnded: completed",
      "callerTooFast: failed",
      "languageModelFailed: failed",
      "sttFailed: failed",
      "speechFailed: failed",
    ],
  );
});

test("a caller can take back what the agent chose, and nothing else", () => {
  const revocable = END_REASONS.filter((reason) =>
    isRevocable({ reason, status: "completed", message: "" }),
  );
  assert.deepEqual(revocable, ["agentHungUp", "transferred", "callerIdle"]);
});

test("a call broke off where its caller may still be there", () => {
  assert.deepEqual(
    END_REASONS.filter((reason) => isBreak({ reason })),
    ["callerLeft", "serverStopping", "overloaded", "internalError"],
  );
});
