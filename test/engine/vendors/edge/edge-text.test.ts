import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as fc from "fast-check";
import {
  audioOf,
  configFrame,
  edgeToken,
  edgeVoice,
  escapeXml,
  pathOf,
  ssmlFrame,
  textPieces,
} from "../../../../engine/vendors/edge/edge.js";

const SSML_TEXT_MAX_BYTES = 4_096;

/** As the product sends it: cut, then escaped. */
const ssmlPieces = (text: string, maxBytes?: number): string[] =>
  textPieces(text, maxBytes).map(escapeXml);

const TRUSTED_CLIENT_TOKEN = "6A5AA1D4EAFF4E9FB37E23D68491D6F4";

describe("Edge's token", () => {
  const first = "42301B335578FEFDAE2637DED1ABD614505D432559EC08032B82048483726AFF";
  const second = "AE4CF72E466874182A75878E20EADA83D29A1C12CAD9C3E0E014CCE0BFA55880";

  it("is the same for five minutes", () => {
    assert.equal(edgeToken(1_700_000_000_000, TRUSTED_CLIENT_TOKEN), first);
    assert.equal(edgeToken(1_700_000_099_999, TRUSTED_CLIENT_TOKEN), first);
    assert.equal(edgeToken(1_700_000_100_000, TRUSTED_CLIENT_TOKEN), second);
  });
});

describe("text for Edge", () => {
  it("is escaped", () => {
    const escaped = ["a &lt; b &amp; &quot;c&quot; &gt; &apos;d&apos;"];
    assert.deepEqual(ssmlPieces(`a < b & "c" > 'd'`), escaped);
  });

  it("loses control characters and halves of characters", () => {
    assert.deepEqual(ssmlPieces("a\u0000b\u001Fc\uD800d\u0085e\tf"), ["a b c\uFFFDd e\tf"]);
  });

  it("is not sent when there is nothing to say in it", () => {
    assert.deepEqual(ssmlPieces("… – !? \n"), []);
    assert.deepEqual(ssmlPieces(""), []);
  });

  it("is cut between words", () => {
    assert.deepEqual(ssmlPieces("one two three four", 9), ["one two ", "three ", "four"]);
    assert.deepEqual(ssmlPieces("one two three four", 8), ["one two ", "three ", "four"]);
    assert.deepEqual(ssmlPieces("one two three four", 7), ["one ", "two ", "three ", "four"]);
  });

  it("is cut inside of a word only if that alone is too long, and continues after it", () => {
    assert.deepEqual(ssmlPieces("ab abcdefg hi", 3), ["ab ", "abc", "def", "g ", "hi"]);
    assert.deepEqual(ssmlPieces("a&&b", 6), ["a&amp;", "&amp;b"]);
  });

  it("never exceeds the limit, breaks no character or entity, and loses nothing", () => {
    const unit = fc.constantFrom("a", "ß", "你", "🎉", "&", "<", " ", "\n", "'");
    fc.assert(
      fc.property(
        fc.array(unit, { maxLength: 200 }),
        fc.integer({ min: 8, max: 64 }),
        (units, max) => {
          const text = units.map((character) => `${character}x`).join("");
          const pieces = ssmlPieces(text, max);
          for (const piece of pieces) assert.ok(Buffer.byteLength(piece) <= max);
          const whole = pieces.join("");
          assert.doesNotMatch(whole, /&(?!(?:amp|lt|gt|quot|apos);)|\uFFFD/);
          const spoken = (given: string) => given.match(/x/g)?.length ?? 0;
          assert.equal(spoken(whole), units.length);
        },
      ),
    );
  });

  it("of ten thousand words is sent in pieces that the service accepts", () => {
    const pieces = ssmlPieces("word & ".repeat(10_000));
    assert.ok(pieces.length > 20);
    for (const piece of pieces) assert.ok(Buffer.byteLength(piece) <= SSML_TEXT_MAX_BYTES);
  });
});

describe("Edge's frames", () => {
  const turn = {
    requestId: "0".repeat(32),
    epochMs: Date.UTC(2026, 0, 1, 12),
    language: "en-US",
    voice: "en-US-AriaNeural",
    pitch: "+0Hz",
    volume: "+0%",
    text: "Hi",
  };

  it("carry time, voice and speed the way the browser writes them", () => {
    const frame = ssmlFrame({ ...turn, speed: 1.1 });
    assert.match(
      frame,
      /^X-RequestId:0{32}\r\nContent-Type:application\/ssml\+xml\r\nX-Timestamp:Thu Jan 01 2026 12:00:00 GMT\+0000 \(Coordinated Universal Time\)Z\r\nPath:ssml\r\n\r\n<speak /,
    );
    assert.match(frame, /<voice name='en-US-AriaNeural'>.* rate='\+10%' volume='\+0%'>Hi</);
    assert.match(ssmlFrame({ ...turn, speed: 0.9 }), /rate='-10%'/);
    assert.match(ssmlFrame({ ...turn, speed: 1 }), /rate='\+0%'/);
    assert.match(
      configFrame(turn.epochMs, "f"),
      /Path:speech.config\r\n\r\n\{.*"outputFormat":"f"/,
    );
  });

  it("cannot be broken out of by a voice or a language", () => {
    const frame = ssmlFrame({ ...turn, speed: 1, voice: "x'/><y", language: "'><z" });
    assert.doesNotMatch(frame, /<y|<z/);
  });

  it("are read by their headers, not by their body", () => {
    assert.equal(pathOf("X-RequestId:1\r\nPath:turn.end\r\n\r\n{}"), "turn.end");
    assert.equal(
      pathOf('X-RequestId:1\r\nPath:response\r\n\r\n{"a":"\r\nPath:turn.end"}'),
      "response",
    );
    assert.equal(pathOf("X-RequestId:1\r\n\r\nPath:turn.end"), undefined);
    assert.equal(pathOf("nothing"), undefined);
    assert.equal(pathOf("Path:turn.start\r\n\r\n{}"), "turn.start");
    assert.equal(pathOf("X-RequestId:1\r\nPath:turn.end"), "turn.end");
  });

  it("contain audio after their header, if their length is correct", () => {
    const header = Buffer.from("X-RequestId:1\r\nPath:audio\r\n");
    const frame = Buffer.concat([Buffer.of(0, header.length), header, Buffer.of(1, 2)]);
    assert.deepEqual([...(audioOf(frame) ?? [])], [1, 2]);
    assert.equal(audioOf(Buffer.of(0xff, 0xff, 1)), undefined);
    assert.equal(audioOf(Buffer.of(0)), undefined);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        audioOf(bytes);
      }),
    );
  });
});

describe("Edge's voice", () => {
  it("is the model's, else the configured one, else one of the language", () => {
    assert.equal(edgeVoice("de-DE-ConradNeural", "x", "en-US"), "de-DE-ConradNeural");
    assert.equal(edgeVoice("edge-neural", "en-GB-RyanNeural", "de-DE"), "en-GB-RyanNeural");
    assert.equal(edgeVoice("edge-neural", undefined, "en-GB"), "en-GB-SoniaNeural");
    assert.equal(edgeVoice("edge-neural", undefined, "de-AT"), "de-DE-KatjaNeural");
    assert.equal(edgeVoice("edge-neural", undefined, "xx"), "en-US-AriaNeural");
  });
});
