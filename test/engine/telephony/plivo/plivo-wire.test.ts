import assert from "node:assert/strict";
import { test } from "node:test";
import { plivoWire } from "../../../../engine/telephony/plivo/plivo.js";
import { receive, startedBy, textFrame, traitsOf, VENDORS } from "../vendor-wires.js";

test("Plivo: parameters in every way in which they have been seen", () => {
  const rows: readonly (readonly [unknown, object])[] = [
    ["{}", {}],
    ["", {}],
    [undefined, {}],
    [5, {}],
    ['{"token":"t1","X-PH-agentId":"ag1"}', { token: "t1", agentId: "ag1" }],
    [{ token: "t1" }, { token: "t1" }],
    ["{X-PH-token: t1, X-PH-agentId: ag1}", { token: "t1", agentId: "ag1" }],
    ["token=t1,agentId=ag1", { token: "t1", agentId: "ag1" }],
    ["token=t1;agentId=ag1", { token: "t1", agentId: "ag1" }],
  ];
  for (const [extra_headers, parameters] of rows) {
    const message = { event: "start", start: { streamId: "s" }, extra_headers };
    assert.deepEqual(startedBy(plivoWire(), message).parameters, parameters);
  }
});

test("Plivo: wider audio goes out as it comes in, and what was dropped is told", () => {
  const mediaFormat = { encoding: "audio/x-l16", sampleRate: 16_000 };
  const wire = plivoWire();
  startedBy(wire, { event: "start", streamId: "s", start: { mediaFormat } });
  assert.match(String(wire.audio(Buffer.alloc(2))), /"audio\/x-l16","sampleRate":16000,/);
  const cleared = textFrame({ event: "clearedAudio", streamId: "s" });
  assert.deepEqual(receive(wire, cleared), [{ type: "cleared" }]);
});

test("Plivo: what names no parameter is none", () => {
  const parametersOf = (extra_headers: string) => {
    const wire = VENDORS["Plivo"]?.wire();
    assert.ok(wire);
    const [event] = receive(wire, textFrame({ event: "start", start: {}, extra_headers }));
    assert.ok(event?.type === "started", extra_headers);
    return event.parameters;
  };
  for (const text of ["token", "=value", " : value", "a b=c", "a\tb: c"]) {
    assert.deepEqual(parametersOf(text), {}, text);
  }
  assert.deepEqual(parametersOf("{a=, token : x=y }"), { a: "", token: "x=y" });
});

test("Plivo: what a call may expect of its wire", () => {
  assert.deepEqual(traitsOf(plivoWire()), [false, false, true, false]);
});
