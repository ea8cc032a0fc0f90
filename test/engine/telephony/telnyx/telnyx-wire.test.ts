import assert from "node:assert/strict";
import { test } from "node:test";
import { telnyxWire } from "../../../../engine/telephony/telnyx/telnyx.js";
import {
  receive,
  startedBy,
  startedStream,
  textFrame,
  traitsOf,
  VENDORS,
} from "../vendor-wires.js";

test("Telnyx: parameters come as an object, as a list, or in the client state", () => {
  const state = Buffer.from(JSON.stringify({ token: "t2", agentId: "ag2" })).toString("base64");
  const rows: readonly (readonly [object, object])[] = [
    [{ custom_parameters: { token: "t1" } }, { token: "t1" }],
    [{ custom_parameters: [{ name: "token", value: "t1" }] }, { token: "t1" }],
    [{ client_state: state }, { token: "t2", agentId: "ag2" }],
    [
      { client_state: state, custom_parameters: { token: "t1" } },
      { token: "t1", agentId: "ag2" },
    ],
    [{ client_state: "aGVsbG8=", custom_parameters: 5 }, {}],
  ];
  for (const [start, parameters] of rows) {
    const message = { event: "start", stream_id: "x", start };
    assert.deepEqual(startedBy(telnyxWire(), message).parameters, parameters);
  }
  const media_format = { encoding: "L16", sample_rate: 16_000 };
  const wide = { event: "start", start: { media_format } };
  assert.equal(startedBy(telnyxWire(), wide).encoding, "pcm16be");
  assert.equal(startedBy(telnyxWire({ pcm: "pcm16" }), wide).encoding, "pcm16");
  const fault = textFrame({ event: "error", payload: { code: 100_000, title: "x" } });
  assert.deepEqual(receive(telnyxWire(), fault), [{ type: "ignored", reason: "vendor error" }]);
});

test("Telnyx: pieces in the wrong order are put right, those that come too late are not heard", () => {
  const { wire } = startedStream("Telnyx");
  const hear = (...chunks: readonly number[]) =>
    receive(
      wire,
      ...chunks.map((n) =>
        textFrame({
          event: "media",
          media: { track: "inbound", chunk: String(n), payload: Buffer.of(n).toString("base64") },
        }),
      ),
    ).map((event) => (event.type === "audio" ? [event.sequence, ...event.bytes] : event));
  assert.deepEqual(hear(1, 2), [
    [1, 1],
    [2, 2],
  ]);
  assert.deepEqual(hear(5, 4), []);
  assert.deepEqual(hear(3), [
    [3, 3],
    [4, 4],
    [5, 5],
  ]);
  assert.deepEqual(hear(4), [{ type: "ignored", reason: "audio is late" }]);
  assert.deepEqual(hear(8, 9), []);
  const rest = receive(wire, textFrame({ event: "stop" })).map(({ type }) => type);
  assert.deepEqual(rest, ["audio", "audio", "ended"]);
});

test("Telnyx: a client state that is no object tells no parameters", () => {
  for (const state of ['"abc"', "[1]", "5", "null", "{"]) {
    const client_state = Buffer.from(state).toString("base64");
    const wire = VENDORS["Telnyx"]?.wire();
    assert.ok(wire);
    const [event] = receive(wire, textFrame({ event: "start", start: { client_state } }));
    assert.ok(event?.type === "started", state);
    if (state !== "[1]") assert.deepEqual(event.parameters, {}, state);
  }
});

test("Telnyx: what a call may expect of its wire", () => {
  assert.deepEqual(traitsOf(telnyxWire()), [false, true, true, false]);
});
