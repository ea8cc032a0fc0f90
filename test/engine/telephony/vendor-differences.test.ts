import assert from "node:assert/strict";
import { test } from "node:test";
import { asteriskWire } from "../../../engine/telephony/asterisk/asterisk.js";
import { jambonzWire } from "../../../engine/telephony/jambonz/jambonz.js";
import type { PhoneWire } from "../../../engine/telephony/phone-wire.js";
import { plivoWire } from "../../../engine/telephony/plivo/plivo.js";
import { signalwireWire } from "../../../engine/telephony/signalwire/signalwire.js";
import { telnyxWire } from "../../../engine/telephony/telnyx/telnyx.js";
import { twilioWire } from "../../../engine/telephony/twilio/twilio-wire.js";
import { vonageWire } from "../../../engine/telephony/vonage/vonage.js";
import { receive, startedStream, textFrame } from "./vendor-wires.js";

test("audio that nothing here can work with is named, whatever the start says of it", () => {
  const twilio = (mediaFormat: unknown) =>
    receive(twilioWire(), textFrame({ event: "start", start: { mediaFormat } }));
  const OFFERS: readonly (readonly [offered: unknown, words: string])[] = [
    [{ encoding: "audio/opus", sampleRate: 8000 }, "audio/opus at 8000 Hz, 1 channel"],
    [{ encoding: "audio/x-mulaw", sampleRate: 1 }, "audio/x-mulaw at 1 Hz, 1 channel"],
    [{ encoding: "audio/x-mulaw", sampleRate: 200_000 }, "audio/x-mulaw at 200000 Hz, 1 channel"],
    [{ encoding: "PCMU", sampleRate: 8000, channels: 2 }, "PCMU at 8000 Hz, 2 channels"],
    [{ encoding: 5, sampleRate: [] }, "no name at NaN Hz, 1 channel"],
    ["PCMU", "no name at NaN Hz, 1 channel"],
    [
      { encoding: "<b>\n".repeat(99), sampleRate: 8000 },
      `${"?b??".repeat(10)} at 8000 Hz, 1 channel`,
    ],
  ];
  for (const [offered, format] of OFFERS) {
    const [event, ...others] = twilio(offered);
    assert.ok(event?.type === "unsupported", JSON.stringify(event));
    assert.deepEqual([event.format, others], [format, []]);
  }
  for (const [wire, start, name] of [
    [telnyxWire(), { event: "start", start: { media_format: { encoding: "OPUS" } } }, "OPUS"],
    [
      telnyxWire(),
      { event: "start", start: { media_format: { encoding: "G722", channels: 2 } } },
      "G722 at 8000 Hz, 2 channels",
    ],
    [
      telnyxWire(),
      { event: "start", start: { media_format: { encoding: "G722", sample_rate: 48_000 } } },
      "G722 at 48000 Hz",
    ],
    [twilioWire(), { event: "start", start: { mediaFormat: { encoding: "audio/G722" } } }, "audio"],
    [plivoWire(), { event: "start", start: { mediaFormat: { encoding: "opus" } } }, "opus"],
    [
      signalwireWire(),
      { event: "start", start: { mediaFormat: { encoding: "AMR-WB" } } },
      "AMR-WB",
    ],
    [vonageWire(), { event: "websocket:connected", "content-type": "audio/opus" }, "audio/opus"],
    [jambonzWire(), { callSid: "c1", sampleRate: 4 }, "l16 at 4 Hz"],
    [asteriskWire(), "MEDIA_START connection_id:c1 format:opus", "opus"],
    [asteriskWire(), "MEDIA_START format:constructor", "constructor"],
  ] as const) {
    const [event] = receive(wire, textFrame(start));
    assert.ok(
      event?.type === "unsupported" && event.format.startsWith(name),
      JSON.stringify(event),
    );
  }
});

test("Telnyx takes the format that our document asks for, whatever codec the caller's audio comes in", () => {
  const wire = telnyxWire();
  const media_format = { encoding: "PCMA", sample_rate: 8000, channels: 1 };
  receive(wire, textFrame({ event: "start", start: { media_format } }));
  assert.deepEqual([wire.inbound.encoding, wire.outbound.encoding], ["alaw", "mulaw"]);
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
