import assert from "node:assert/strict";
import { test } from "node:test";
import { CallControl } from "../../../engine/telephony/call-control.js";
import { TelephonyError } from "../../../engine/telephony/telephony-request.js";
import { VendorError, type VendorFault } from "../../../engine/vendors/contracts.js";
import { installationApis } from "../../doubles/installation-apis.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";

const at = (vendor: string) => ({ vendor, orgId: "org" });
const ACME = at("acme");
const verify = () => Promise.resolve();

/** A vendor that fails as often as there are faults, and then takes what it is asked. */
function phoneVendor(...faults: readonly VendorFault[]) {
  const left = [...faults];
  const hungUp: string[] = [];
  const log = new RecordingLogger();
  const hangUp = (callRef: string) => {
    hungUp.push(callRef);
    const fault = left.shift();
    if (fault === undefined) return Promise.resolve();
    return Promise.reject(new VendorError("acme", fault, "acme: no"));
  };
  const control = new CallControl(installationApis({ acme: { hangUp, verify } }), log);
  return { control, hungUp, messages: () => log.lines.map(({ message }) => message) };
}

test("a call is hung up once where the vendor takes it, and a second time after an outage", async () => {
  const well = phoneVendor();
  await well.control.hangUp(ACME, "CA1");
  assert.deepEqual(well.hungUp, ["CA1"]);
  const shaky = phoneVendor("disconnected");
  await shaky.control.hangUp(ACME, "CA1");
  assert.deepEqual([shaky.hungUp, shaky.messages()], [["CA1", "CA1"], []]);
});

test("a vendor that refuses is not asked again, nor one that is out twice, and the log says so", async () => {
  const refusing = phoneVendor("unauthorized");
  await refusing.control.hangUp(ACME, "CA1");
  const out = phoneVendor("disconnected", "disconnected", "disconnected");
  await out.control.hangUp(ACME, "CA1");
  assert.deepEqual([refusing.hungUp.length, out.hungUp.length], [1, 2]);
  for (const { messages } of [refusing, out]) {
    assert.deepEqual(messages(), ["failed to hang up a call at its vendor"]);
  }
});

test("where a vendor has no account, or the call no id, nobody is asked, and the log says so once", async () => {
  const { control, hungUp, messages } = phoneVendor();
  await control.hangUp(at("other"), "CA1");
  await control.hangUp(at("other"), "CA2");
  const words =
    "calls are hung up only by closing their streams: no account, or calls without an id";
  assert.deepEqual(messages(), [words]);
  await control.hangUp(ACME, "");
  assert.deepEqual(messages(), [words, words]);
  assert.deepEqual(hungUp, []);
});

test("whoever waits for what was asked for waits until it is answered", async () => {
  let answer = () => {};
  const hangUp = () =>
    new Promise<void>((resolve) => {
      answer = resolve;
    });
  const control = new CallControl(
    installationApis({ acme: { hangUp, verify } }),
    new RecordingLogger(),
  );
  const order: string[] = [];
  const asked = control.hangUp(ACME, "CA1").then(() => order.push("hung up"));
  const settled = control.settled().then(() => order.push("settled"));
  await new Promise(setImmediate);
  assert.deepEqual(order, []);
  answer();
  await Promise.all([asked, settled]);
  await control.settled();
  assert.equal(order.length, 2);
});

test("a call is only handed on where the vendor can and the call has an id", async () => {
  const moved: string[] = [];
  const dial = (to: string) => ({ to, ringSec: 30, resultUrl: "https://voice.example.com/" });
  const transfer = (callRef: string, { to }: { readonly to: string }) => {
    moved.push(`${callRef} to ${to}`);
    return to === "+1" ? Promise.reject(new Error("no such number")) : Promise.resolve();
  };
  const hangUp = () => Promise.resolve();
  const control = new CallControl(
    installationApis({ plain: { hangUp, verify }, able: { hangUp, transfer, verify } }),
    new RecordingLogger(),
  );
  assert.deepEqual(
    [await control.canTransfer(at("able"), "CA1"), await control.canTransfer(at("able"), "")],
    [true, false],
  );
  assert.deepEqual(
    [await control.canTransfer(at("plain"), "CA1"), await control.canTransfer(at("x"), "CA1")],
    [false, false],
  );
  assert.equal(await control.transfer(at("able"), "CA1", dial("+49")), "taken");
  assert.equal(await control.transfer(at("able"), "CA1", dial("+1")), "refused");
  assert.equal(await control.transfer(at("able"), "", dial("+49")), "refused");
  assert.equal(await control.transfer(at("plain"), "CA1", dial("+49")), "refused");
  assert.deepEqual(moved, ["CA1 to +49", "CA1 to +1"]);
});

for (const [error, answer] of [
  [new TelephonyError("acme", 400, 21_220), "refused"],
  [new TelephonyError("acme", 502, undefined), "unknown"],
  [new VendorError("acme", "timeout", "no answer in time"), "unknown"],
  [new VendorError("acme", "disconnected", "the connection was reset"), "unknown"],
  [new VendorError("acme", "badAnswer", "not JSON"), "unknown"],
  [new VendorError("acme", "unavailable", "connection refused"), "refused"],
] as const) {
  test(`whether the vendor transfers a call is ${answer} after: ${error.message}`, async () => {
    const transfer = () => Promise.reject(error);
    const hangUp = () => Promise.resolve();
    const apis = installationApis({ acme: { hangUp, transfer, verify } });
    const control = new CallControl(apis, new RecordingLogger());
    const dial = { to: "+49", ringSec: 30, resultUrl: "https://voice.example.com/" };
    assert.equal(await control.transfer(ACME, "CA1", dial), answer);
  });
}

test("an account that cannot be read is none for the moment, and the log says so", async () => {
  const log = new RecordingLogger();
  const control = new CallControl({ of: () => Promise.reject(new Error("no key opens it")) }, log);
  const own = { vendor: "acme", orgId: "org", ownAccount: true };
  assert.equal(await control.canTransfer(own, "CA1"), false);
  await control.hangUp(own, "CA1");
  const words = log.lines.map(({ message }) => message);
  assert.equal(words[0], "failed to read a telephony account");
});
