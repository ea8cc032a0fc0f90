import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { Base64Audio } from "../../../engine/telephony/base64-audio.js";
import { MediaScanner } from "../../../engine/telephony/media-stream.js";
import { twilioWire } from "../../../engine/telephony/twilio/twilio-wire.js";
import { receive, textFrame, VENDORS } from "./vendor-wires.js";

interface Found {
  readonly bytes: Uint8Array;
  readonly chunk: number | undefined;
}

function scan(text: string): Found | undefined {
  const frame = Buffer.from(text);
  const scanner = new MediaScanner();
  if (!scanner.scan(frame)) return undefined;
  const bytes = new Base64Audio().decode(frame, scanner.payloadStart, scanner.payloadEnd);
  const chunk = scanner.chunk < 0 ? undefined : scanner.chunk;
  return bytes && { bytes: Uint8Array.from(bytes), chunk };
}

/** What a whole parser finds in the same text; throws for what is no JSON. */
function parse(text: string): Found {
  const { event, media } = JSON.parse(text);
  assert.equal(event, "media");
  assert.ok(media.track === undefined || media.track.startsWith("inbound"));
  const chunk = media.chunk === undefined ? undefined : Number(media.chunk);
  return { bytes: Uint8Array.from(Buffer.from(media.payload, "base64")), chunk };
}

test("the audio of every vendor's messages is found without parsing them", () => {
  const bytes = Buffer.from([1, 2, 3, 254, 255]);
  for (const name of ["Twilio", "Telnyx", "Plivo", "SignalWire"]) {
    const text = VENDORS[name]?.media(bytes, 19_870).data.toString() ?? "";
    assert.deepEqual(scan(text), { bytes: Uint8Array.from(bytes), chunk: 19_870 });
  }
});

test("other names are not taken for the audio's, whether as long or as it begins", () => {
  const nameless = '{"event":"media","streamSid":"","media":{"payload":"AAAA"}}';
  assert.deepEqual(scan(nameless)?.bytes, new Uint8Array(3), "an empty text");
  for (const name of ["charset", "payloads", "payloa", "sound", "tracks"]) {
    const text = `{"event":"media","media":{"${name}":"BBBB","payload":"AAAA"}}`;
    assert.deepEqual(scan(text)?.bytes, new Uint8Array(3), name);
  }
});

test("numbers of any length are passed over, and end where they end", () => {
  for (const number of ["0", "5", "20", "90", "1234567890123456789"]) {
    const text = `{"event":"media","sequenceNumber":${number},"media":{"payload":"AAAA"}}`;
    assert.deepEqual(scan(text)?.bytes, new Uint8Array(3), number);
  }
  const longest = '{"event":"media","media":{"chunk":"999999999999999","payload":"AAAA"}}';
  assert.equal(scan(longest)?.chunk, 999_999_999_999_999);
});

test("a message is judged by itself, whatever came before it", () => {
  const scanner = new MediaScanner();
  assert.ok(scanner.scan(Buffer.from('{"event":"media","media":{"chunk":7,"payload":"AAAA"}}')));
  assert.ok(!scanner.scan(Buffer.from('{"event":"media","media":{"payload":"AAAA"},"more":}')));
  assert.ok(scanner.scan(Buffer.from('{"event":"media","media":{"payload":"AAAA"}}')));
  assert.equal(scanner.chunk, -1);
});

test("unusual shapes are left to the parser", () => {
  const usual = '{"event":"media","media":{"payload":"AAAA"}}';
  assert.ok(scan(usual));
  for (const name of ["é", "a b", "!"]) {
    assert.ok(scan(`{"event":"media","streamSid":"${name}","media":{"payload":"AAAA"}}`), name);
  }
  const unusual = [
    "",
    "{}",
    '{"event":"media"}',
    '{"event":"media","media":{}}',
    '{"event":"media","media":{"payload":"AAAA"}',
    '{"event":"media","media":{"payload":"AAAA"}}}',
    '{"event":"media","media":{"payload":"AAAA"},"event":"stop"}',
    '{"event":"media","media":{"payload":"AAAA","payload":"BBBB"}}',
    '{"event":"media","media":{"payload":"AAAA"},"media":{"payload":"BBBB"}}',
    '{"event":"media","media":{"track":"outbound","payload":"AAAA"}}',
    '{"event":"media","media":{"payload":"AAAA","more":{"x":"y"}}}',
    '{"event":"media","media":{"chunk":"01x","payload":"AAAA"}}',
    '{"event":"media","media":{"chunk":01,"payload":"AAAA"}}',
    '{"event":"media","media":{"chunk":"9999999999999999","payload":"AAAA"}}',
    '{"event":"media","media":{"chunk":"","payload":"AAAA"}}',
    '{"event":"media","media":{"pay\\u006coad":"AAAA"}}',
    '{"event":"medio","media":{"payload":"AAAA"}}',
    '{"event":"media","media":{"payload":5}}',
    '{"event":"media","media":{"payload":5AAA"}}',
    '{"event":"media",5media":{"payload":"AAAA"}}',
    '{"event":"media","media":{"payload":"AAAA",}',
    '{"event":"media","media":{"payload":,"payload":"AAAA"}}',
    '{"event":"media","media":{"payload":"AAAA',
    '{"event":"media","media":{"chunk":"7',
    '{"event":"media","chunk":{"payload":"AAAA"}}',
    '{"event":"media","mediaX":{"payload":"AAAA"}}',
    '{"event":"media",:5,"media":{"payload":"AAAA"}}',
    '{"event":"media","sequenceNumber":01,"media":{"payload":"AAAA"}}',
    '{"event":"media","sequenceNumber":012,"media":{"payload":"AAAA"}}',
    '{"event":"media","sequenceNumber":,"media":{"payload":"AAAA"}}',
    '{"event":"media","media":{"payload":"}}',
    '{"event":"media","media":{"payload":"AA","x":"AA"}}',
    '{"event": "media","media":{"payload":"AAAA"}}',
    '["event":"media","media":{"payload":"AAAA"}}',
    '{"event":"media","media":["payload":"AAAA"}}',
    '{"event":"media","mediaX"{"payload":"AAAA"}}',
    '{"event":"media","media":{"payload":"AAAA"},"media":{"chunk":"7"}}',
    '{"event":"media","media":{"payload":"AAAA","chunk":"7"}]',
    '{"event":"media","media":{"payload":"AAAA","payload":}',
    '{"event":"media","media":{"payload":"AAAA","chunk":}',
    '{"event":"media","media":{"payload":"AAAA","more":}',
    '{"event":"media","streamSid":"a\nb","media":{"payload":"AAAA"}}',
    '{"event":"media","streamSid":"a\u001fb","media":{"payload":"AAAA"}}',
    ` ${usual}`,
    `${usual} `,
  ];
  for (const text of unusual) {
    const found = scan(text);
    if (found !== undefined) assert.deepEqual(found, parse(text), text);
  }
  const taken = unusual.filter((text) => scan(text) !== undefined);
  assert.deepEqual(taken, []);
});

test("what it accepts, a parser reads the same", () => {
  const odd = fc.oneof(
    fc.constantFrom("", '"', "{}", '{"a":"b"}', "-1", "1.5", "01", "null", "0", '"A"', '"x"'),
    fc.string({ maxLength: 6 }).map((text) => JSON.stringify(text)),
  );
  const audio = fc.base64String({ maxLength: 40 }).map((text) => JSON.stringify(text));
  const usual: readonly (readonly [string, fc.Arbitrary<string>])[] = [
    ["payload", audio],
    ["payload", audio],
    ["chunk", fc.constantFrom('"7"', "12", '"0"')],
    ["track", fc.constantFrom('"inbound"', '"inbound_track"', '"outbound"')],
    ["timestamp", fc.constantFrom('"5"', "20")],
  ];
  const pairsOf = (kinds: readonly (readonly [string, fc.Arbitrary<string>])[]) =>
    fc.constantFrom(...kinds).chain(([name, value]) => {
      const mostly = fc.oneof({ arbitrary: value, weight: 9 }, { arbitrary: odd, weight: 1 });
      return mostly.map((text) => `"${name}":${text}`);
    });
  const inner = fc.array(pairsOf(usual), { maxLength: 4 });
  const deps: readonly (readonly [string, fc.Arbitrary<string>])[] = [
    ["sequenceNumber", fc.constantFrom('"5"', "20")],
    ["streamSid", fc.constant('"MZ1"')],
    ["event", fc.constantFrom('"media"', '"stop"')],
  ];
  const outer = fc.array(pairsOf(deps), { maxLength: 2 });
  const end = fc.constantFrom("}", "}", "}", "", "}}", "} ", ",}");
  const text = fc.tuple(outer, inner, outer, end).map(([before, media, after, close]) => {
    const parts = ['"event":"media"', ...before, `"media":{${media.join(",")}}`, ...after];
    return `{${parts.join(",")}${close}`;
  });
  let accepted = 0;
  fc.assert(
    fc.property(text, (message) => {
      const found = scan(message);
      if (found === undefined) return;
      accepted += 1;
      assert.deepEqual(found, parse(message));
    }),
    { numRuns: 3000 },
  );
  assert.ok(accepted > 30, `only ${accepted} were accepted`);
});

test("what is left to the parser is heard all the same", () => {
  const wire = twilioWire();
  receive(wire, ...[VENDORS["Twilio"]?.start].filter((frame) => frame !== undefined));
  const spaced = '{"event": "media", "media": {"chunk": "7", "payload": "AQID"}}';
  assert.deepEqual(receive(wire, textFrame(spaced)), [
    { type: "audio", bytes: Uint8Array.of(1, 2, 3), sequence: 7 },
  ]);
});

test("garbage in place of base64 is ignored as such", () => {
  const wire = twilioWire();
  receive(wire, ...[VENDORS["Twilio"]?.start].filter((frame) => frame !== undefined));
  const payloads = [
    "!!!!",
    "AAA!",
    "A",
    "AAAAA",
    "=AAA",
    "AA=A",
    "AA AA",
    "ÄÄÄÄ",
    "====",
    "AA===",
    "ŁAAA",
  ];
  for (const payload of payloads) {
    const [event] = receive(wire, textFrame({ event: "media", media: { payload } }));
    assert.deepEqual(event, { type: "ignored", reason: "audio is not base64" }, payload);
  }
  const [empty] = receive(wire, textFrame({ event: "media", media: { payload: "" } }));
  assert.deepEqual(empty, { type: "ignored", reason: "audio is empty" });
  for (const payload of ["AAAA", "AAA=", "AAA", "AA==", "AA"]) {
    const [event] = receive(wire, textFrame({ event: "media", media: { payload } }));
    assert.equal(event?.type, "audio", payload);
  }
});
