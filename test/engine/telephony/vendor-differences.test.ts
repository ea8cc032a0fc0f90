import assert from "node:assert/strict";
import { test } from "node:test";
import { asteriskWire } from "../../../engine/telephony/asterisk/asterisk-wire.js";
import { jambonzWire } from "../../../engine/telephony/jambonz/jambonz-wire.js";
import type { PhoneWire } from "../../../engine/telephony/phone-wire.js";
import { plivoWire } from "../../../engine/telephony/plivo/plivo-wire.js";
import { signalwireWire } from "../../../engine/telephony/signalwire/signalwire-wire.js";
import { telnyxWire } from "../../../engine/telephony/telnyx/telnyx-wire.js";
import { twilioWire } from "../../../engine/telephony/twilio/twilio-wire.js";
import { vonageWire } from "../../../engine/telephony/vonage/vonage-wire.js";
import { binaryFrame, receive, startedBy, startedStream, textFrame } from "./vendor-wires.js";

const MULAW = { type: "started", encoding: "mulaw", sampleRateHz: 8000 };
test("Twilio: a start in a shape that is not quite the documented one is understood", () => {
  const bare = { event: "start", streamSid: "MZ1", start: {} };
  const parameters = { a: "1", b: 2, c: true, d: { e: 1 }, f: null };
  const odd = {
    ...bare,
    start: {
      mediaFormat: { encoding: "audio/x-mulaw", sampleRate: "8000" },
      customParameters: parameters,
    },
  };
  assert.deepEqual(startedBy(twilioWire(), bare), {
    ...MULAW,
    streamId: "MZ1",
    callId: "",
    parameters: {},
  });
  assert.deepEqual(startedBy(twilioWire(), odd).parameters, { a: "1", b: "2", c: "true" });
  assert.deepEqual(
    receive(twilioWire(), textFrame({ event: "connected", protocol: "Call", version: "1.0.0" })),
    [],
  );
});

test("audio that nothing here can work with is not started", () => {
  for (const mediaFormat of [
    { encoding: "audio/opus", sampleRate: 8000 },
    { encoding: "audio/x-mulaw", sampleRate: 1 },
    { encoding: "audio/x-mulaw", sampleRate: 200_000 },
  ]) {
    const events = receive(twilioWire(), textFrame({ event: "start", start: { mediaFormat } }));
    assert.deepEqual(events, [{ type: "ignored", reason: "unsupported audio format" }]);
  }
  const opus = receive(asteriskWire(), textFrame("MEDIA_START connection_id:c1 format:opus"));
  assert.deepEqual(opus, [{ type: "ignored", reason: "unsupported audio format" }]);
  const inherited = receive(asteriskWire(), textFrame("MEDIA_START format:constructor"));
  assert.deepEqual(inherited, [{ type: "ignored", reason: "unsupported audio format" }]);
});

test("the agent's own track is not heard as the caller", () => {
  for (const name of ["Twilio", "Telnyx", "Plivo", "SignalWire"]) {
    const { wire } = startedStream(name);
    for (const track of ["outbound", "outbound_track"]) {
      const frame = textFrame({ event: "media", media: { track, chunk: "1", payload: "AAAA" } });
      assert.deepEqual(receive(wire, frame), [
        { type: "ignored", reason: "audio of another track" },
      ]);
    }
  }
});

test("SignalWire: wider codecs, and samples in the order that the operator says", () => {
  const mediaFormat = { encoding: "audio/x-L16", sampleRate: 24_000, channels: 1 };
  const start = { event: "start", start: { streamSid: "s", mediaFormat } };
  const wire = signalwireWire();
  const wide = { encoding: "pcm16", sampleRateHz: 24_000 };
  assert.deepEqual(startedBy(wire, start), {
    type: "started",
    streamId: "s",
    callId: "",
    parameters: {},
    ...wide,
  });
  assert.deepEqual(wire.format, wide);
  assert.equal(startedBy(signalwireWire({ pcm: "pcm16be" }), start).encoding, "pcm16be");
  const [audio] = receive(wire, textFrame({ event: "media", media: { payload: "AQID" } }));
  assert.deepEqual(audio, { type: "audio", bytes: Uint8Array.of(1, 2), sequence: undefined });
});

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

test("Vonage: the rate is the one of the content type, and the frames are 20 ms of it", () => {
  for (const [rateHz, frameBytes] of [
    [8000, 320],
    [16_000, 640],
    [24_000, 960],
  ] as const) {
    const wire = vonageWire();
    const connected = {
      event: "websocket:connected",
      "content-type": `audio/l16;rate=${rateHz}`,
      callId: "u1",
    };
    const event = startedBy(wire, connected);
    assert.deepEqual(
      [event.sampleRateHz, event.callId, wire.frameBytes],
      [rateHz, "u1", frameBytes],
    );
    assert.equal(wire.audio(Buffer.alloc(frameBytes * 2 + 1)).length, 3);
  }
  const wire = vonageWire();
  startedBy(wire, { event: "websocket:connected", "content-type": "audio/l16;rate=8000" });
  const older = textFrame({ event: "websocket:dtmf", dtmf: { digit: 5 } });
  assert.deepEqual(receive(wire, older), [{ type: "digit", digit: "5" }]);
  assert.deepEqual(receive(wire, textFrame({ event: "websocket:cleared" })), [{ type: "cleared" }]);
  const odd = receive(wire, binaryFrame(Buffer.of(1, 2, 3)));
  assert.deepEqual(odd, [{ type: "audio", bytes: Uint8Array.of(1, 2), sequence: undefined }]);
  assert.deepEqual(receive(wire, binaryFrame(Buffer.of(1))), [
    { type: "ignored", reason: "audio is empty" },
  ]);
});

test("Jambonz: it says itself what was played, and nested metadata counts too", () => {
  const wire = jambonzWire();
  const start = { callSid: "c1", sampleRate: "16000", metadata: { token: "t1" } };
  const event = startedBy(wire, start);
  assert.deepEqual([event.sampleRateHz, event.parameters], [16_000, { token: "t1" }]);
  wire.mark("m0");
  assert.deepEqual(receive(wire, textFrame({ type: "mark", data: { name: "m0" } })), [
    { type: "markReached", name: "m0", heard: true },
  ]);
  const odd = { callSid: "c1", metadata: "text" };
  assert.deepEqual(startedBy(jambonzWire(), odd).parameters, { metadata: "text" });
  wire.mark("m1");
  wire.mark("m2");
  wire.clear();
  const told = (name: string, event: string) => textFrame({ type: "mark", data: { name, event } });
  assert.deepEqual(receive(wire, told("m1", "playout"), told("m2", "cleared")), [
    { type: "markReached", name: "m1", heard: true },
    { type: "markReached", name: "m2", heard: false },
  ]);
});

test("a message that lacks what it should tell is unreadable to every vendor's wire", () => {
  const halves: readonly (readonly [PhoneWire, object])[] = [
    [twilioWire(), { event: "dtmf" }],
    [telnyxWire(), { event: "dtmf" }],
    [plivoWire(), { event: "dtmf" }],
    [signalwireWire(), { event: "dtmf" }],
    [vonageWire(), { event: "websocket:notify" }],
    [jambonzWire(), { type: "mark" }],
    [jambonzWire(), { callSid: "c1", type: "info" }],
    [jambonzWire(), { callSid: "c1", event: "connected" }],
    [asteriskWire(), { event: "DTMF_END" }],
  ];
  for (const [wire, half] of halves) {
    const events = receive(wire, textFrame(half));
    const told = JSON.stringify(half);
    assert.deepEqual(events, [{ type: "ignored", reason: "unreadable message" }], told);
  }
});
