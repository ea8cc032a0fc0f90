import assert from "node:assert/strict";
import { test } from "node:test";
import { otherServerAddress } from "../../../api/voice/other-server.js";
import { CallRefusedError, type RefusalReason } from "../../../engine/calls/call-refused-error.js";
import { RequestError } from "../../../engine/request-error.js";

const refused = (reason: RefusalReason) => new CallRefusedError(reason, "no");

test("a caller refused for a reason of this server is redirected to another one, by its address or by the proxy", async () => {
  for (const reason of ["serverStopping", "overloaded"] as const) {
    const address = "wss://other.example.com";
    assert.equal(await otherServerAddress(refused(reason), () => ({ address })), address);
    assert.equal(await otherServerAddress(refused(reason), () => undefined), undefined);
    await assert.rejects(
      otherServerAddress(refused(reason), () => ({ address: undefined })),
      (error: unknown) => error instanceof RequestError && error.code === "unavailable",
    );
  }
});

test("what another server would refuse, too, is refused here", async () => {
  const reasons: readonly RefusalReason[] = ["limitReached", "agentNotFound", "storeFailing"];
  for (const reason of reasons) {
    const asked = () => assert.fail("nobody else is asked");
    assert.equal(await otherServerAddress(refused(reason), asked), undefined);
  }
});
