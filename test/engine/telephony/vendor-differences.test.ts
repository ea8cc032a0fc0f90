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
import { receive, startedStream, textFrame } from "./vendor-wires.js";

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
