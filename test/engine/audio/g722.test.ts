import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { G722Decoder, G722Encoder } from "../../../engine/audio/g722.js";
import { G722_REFERENCE } from "./g722-reference.js";
import { G722_SIGNALS, sha256, withoutLostPackets } from "./g722-signals.js";

test("every code and every sample is what ffmpeg makes of the same signal, also after lost packets", () => {
  assert.deepEqual(Object.keys(G722_REFERENCE), Object.keys(G722_SIGNALS));
  for (const [name, pcm] of Object.entries(G722_SIGNALS)) {
    const codes = new G722Encoder().encode(pcm);
    const digests = {
      codes: sha256(codes),
      decoded: sha256(new G722Decoder().decode(codes)),
      decodedAfterLoss: sha256(new G722Decoder().decode(withoutLostPackets(codes))),
    };
    assert.deepEqual(digests, G722_REFERENCE[name], name);
  }
});

test("silence is decoded to what nobody hears", () => {
  const codes = new G722Encoder().encode(new Int16Array(16_000));
  const loudest = Math.max(...new G722Decoder().decode(codes).map(Math.abs));
  assert.ok(loudest <= 8, String(loudest));
});

test("pieces of any size sound like the whole", () => {
  const pcm = G722_SIGNALS["syllables of tone and hiss"]?.subarray(0, 4_000);
  assert.ok(pcm);
  const codes = new G722Encoder().encode(pcm);
  const decoded = new G722Decoder().decode(codes);
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 20 }), (sizes) => {
      const [encoder, decoder] = [new G722Encoder(), new G722Decoder()];
      const sent: Uint8Array[] = [];
      const heard: number[] = [];
      let at = 0;
      for (const size of [...sizes, pcm.length]) {
        const piece = encoder.encode(pcm.subarray(at, at + size));
        sent.push(piece);
        heard.push(...decoder.decode(piece));
        at += size;
      }
      assert.deepEqual(Buffer.concat(sent), Buffer.from(codes));
      assert.deepEqual(Int16Array.from(heard), decoded);
    }),
  );
});

test("one direction of a call does not disturb another", () => {
  const [one, other] = [G722_SIGNALS["loud noise"], G722_SIGNALS["a low tone"]];
  assert.ok(one && other);
  const alone = new G722Encoder().encode(other);
  const [encoder, neighbour] = [new G722Encoder(), new G722Encoder()];
  const pieces: Uint8Array[] = [];
  for (let at = 0; at < other.length; at += 320) {
    neighbour.encode(one.subarray(at, at + 320));
    pieces.push(encoder.encode(other.subarray(at, at + 320)));
  }
  assert.deepEqual(Buffer.concat(pieces), Buffer.from(alone));
});
