import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { telephonyRequest, unlessOver } from "../../../engine/telephony/telephony-request.js";
import { SystemClock } from "../../../engine/time/clock.js";
import { Connections } from "../../../engine/vendors/transport/connections.js";
import { httpService } from "../../doubles/http-service.js";

/** What a vendor's answer of so many bytes becomes; the vendor is one of the platform's own network. */
async function answerOf(context: TestContext, bytes: number): Promise<string> {
  const baseUrl = await httpService(context, (_request, response) => {
    response.end("x".repeat(bytes));
  });
  const clock = new SystemClock();
  const connections = new Connections({ clock, allowPrivateAddresses: false });
  context.after(() => connections.close());
  const request = { vendor: "acme", baseUrl, method: "POST", path: "/calls", headers: {} } as const;
  return telephonyRequest({ clock, connections }, request);
}

test("an answer of 64 KiB is read whole, and a longer one is none", async (context) => {
  assert.equal((await answerOf(context, 65_536)).length, 65_536);
  await assert.rejects(answerOf(context, 65_537), { name: "VendorError" });
});

test("only a vendor's own refusal says that a call is over", async () => {
  for (const error of [
    Object.assign(new Error("not ours"), { status: 404 }),
    Object.assign(new Error("not ours"), { code: "90018" }),
  ]) {
    await assert.rejects(unlessOver(Promise.reject(error), "90018"), error);
  }
});
