import assert from "node:assert/strict";
import { test } from "node:test";
import { PARAMETERS, startedStream, VENDORS } from "./vendor-wires.js";

const MULAW = { type: "started", encoding: "mulaw", sampleRateHz: 8000 };
const LINEAR = { type: "started", encoding: "pcm16", sampleRateHz: 8000 };

test("what a vendor's start tells", () => {
  const rows: Readonly<Record<string, object>> = {
    Twilio: {
      ...MULAW,
      streamId: "MZ00000000000000000000000000000001",
      callId: "CA1",
      parameters: PARAMETERS,
    },
    Telnyx: { ...MULAW, streamId: "32de0dea", callId: "v3:ex", parameters: PARAMETERS },
    Plivo: { ...MULAW, streamId: "s1", callId: "c1", parameters: PARAMETERS },
    SignalWire: { ...MULAW, streamId: "3f0f6c1e", callId: "b9d1", parameters: PARAMETERS },
    Vonage: { ...LINEAR, sampleRateHz: 16_000, streamId: "", callId: "", parameters: PARAMETERS },
    Jambonz: {
      ...LINEAR,
      streamId: "c1",
      callId: "c1",
      parameters: { from: "+1", to: "+2", callId: "sip1", mixType: "mono", ...PARAMETERS },
    },
    "Asterisk's WebSocket": { ...MULAW, streamId: "c1", callId: "176.1", parameters: PARAMETERS },
    "Asterisk's WebSocket in plain text": {
      ...MULAW,
      streamId: "c1",
      callId: "176.1",
      parameters: {},
    },
    AudioSocket: {
      ...LINEAR,
      parameters: {},
      streamId: "00112233-4455-6677-8899-aabbccddeeff",
      callId: "00112233-4455-6677-8899-aabbccddeeff",
    },
  };
  assert.deepEqual(Object.keys(rows), Object.keys(VENDORS));
  for (const [name, expected] of Object.entries(rows)) {
    assert.deepEqual(startedStream(name).event, expected, name);
  }
});

test("what goes to each vendor, letter by letter", () => {
  const sid = "MZ00000000000000000000000000000001";
  const rows: Readonly<Record<string, readonly unknown[]>> = {
    Twilio: [
      `{"event":"media","streamSid":"${sid}","media":{"payload":"AQID"}}`,
      `{"event":"mark","streamSid":"${sid}","mark":{"name":"g1-s2"}}`,
      `{"event":"clear","streamSid":"${sid}"}`,
    ],
    Telnyx: [
      '{"event":"media","media":{"payload":"AQID"}}',
      '{"event":"mark","mark":{"name":"g1-s2"}}',
      '{"event":"clear"}',
    ],
    Plivo: [
      '{"event":"playAudio","media":{"contentType":"audio/x-mulaw","sampleRate":8000,"payload":"AQID"}}',
      '{"event":"checkpoint","streamId":"s1","name":"g1-s2"}',
      '{"event":"clearAudio","streamId":"s1"}',
    ],
    SignalWire: [
      '{"event":"media","streamSid":"3f0f6c1e","media":{"payload":"AQID"}}',
      '{"event":"mark","streamSid":"3f0f6c1e","mark":{"name":"g1-s2"}}',
      '{"event":"clear","streamSid":"3f0f6c1e"}',
    ],
    Vonage: [
      Uint8Array.from([1, 2, 3, ...new Uint8Array(637)]),
      '{"action":"notify","payload":{"id":"g1-s2"}}',
      '{"action":"clear"}',
    ],
    Jambonz: [
      Uint8Array.of(1, 2, 3),
      '{"type":"mark","data":{"name":"g1-s2"}}',
      '{"type":"killAudio"}',
      '{"type":"disconnect"}',
    ],
    "Asterisk's WebSocket": [
      Uint8Array.from([1, 2, 3, ...new Uint8Array(157).fill(0xff)]),
      '{"command":"MARK_MEDIA","correlation_id":"g1-s2"}',
      '{"command":"FLUSH_MEDIA"}',
      '{"command":"HANGUP"}',
    ],
    "Asterisk's WebSocket in plain text": [
      Uint8Array.from([1, 2, 3, ...new Uint8Array(157).fill(0xff)]),
      "MARK_MEDIA g1-s2",
      "FLUSH_MEDIA",
      "HANGUP",
    ],
    AudioSocket: [
      Uint8Array.from([0x10, 1, 64, 1, 2, 3, ...new Uint8Array(317)]),
      Uint8Array.of(0, 0, 0),
    ],
  };
  for (const [name, expected] of Object.entries(rows)) {
    const { wire } = startedStream(name);
    const audio = wire.audio(Uint8Array.of(1, 2, 3));
    const sent = [...audio, ...wire.mark("g1-s2"), ...wire.clear(), ...wire.hangUp()];
    assert.deepEqual(sent, expected, name);
  }
});

test("what a vendor can do and what it cannot", () => {
  const traits = Object.entries(VENDORS).map(([name, vendor]) => {
    const { needsPacing, reorders, clearDropsMarks, closingHangsUp } = vendor.wire();
    return [name, { needsPacing, reorders, clearDropsMarks, closingHangsUp }] as const;
  });
  const having = (trait: keyof (typeof traits)[number][1]) =>
    traits.filter(([, has]) => has[trait]).map(([name]) => name);
  assert.deepEqual(having("needsPacing"), ["AudioSocket"]);
  assert.deepEqual(having("reorders"), ["Telnyx"]);
  const keepMarks = new Set(["Twilio", "SignalWire", "Jambonz"]);
  const dropMarks = Object.keys(VENDORS).filter((name) => !keepMarks.has(name));
  assert.deepEqual(having("clearDropsMarks"), dropMarks);
  const byRest = new Set(["Telnyx", "Plivo"]);
  const byClosing = Object.keys(VENDORS).filter((name) => !byRest.has(name));
  assert.deepEqual(having("closingHangsUp"), byClosing);
});
