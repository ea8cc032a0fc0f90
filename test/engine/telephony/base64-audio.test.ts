import assert from "node:assert/strict";
import { test } from "node:test";
import { Base64Audio, toBase64 } from "../../../engine/telephony/base64-audio.js";

function decoded(audio: Base64Audio, text: string): readonly number[] | undefined {
  const frame = Buffer.from(`=${text}=`);
  const bytes = audio.decode(frame, 1, frame.length - 1);
  return bytes && [...bytes];
}

test("pieces of all sizes come out as they went in, one after the other", () => {
  const audio = new Base64Audio();
  for (const size of [3, 6, 3, 0, 1, 7, 7, 2, 0, 12]) {
    const bytes = Array.from({ length: size }, (_, index) => (size * 40 + index) % 256);
    assert.deepEqual(decoded(audio, toBase64(Uint8Array.from(bytes))), bytes, `${size} bytes`);
  }
});

test("one or two signs may fill a text up, or be left out, and nothing else may", () => {
  const audio = new Base64Audio();
  for (const text of ["AQ==", "AQ=", "AQ"]) assert.deepEqual(decoded(audio, text), [1], text);
  for (const text of ["AQI=", "AQI"]) assert.deepEqual(decoded(audio, text), [1, 2], text);
  for (const text of ["A", "A===", "AQI*", "A*==", "A Q=", "AQ==A"]) {
    assert.equal(decoded(audio, text), undefined, text);
  }
  assert.deepEqual(decoded(audio, ""), []);
});

test("pieces that are no longer than one before them lie in its memory", () => {
  const audio = new Base64Audio();
  const bufferOf = (text: string) => audio.decode(Buffer.from(text), 0, text.length)?.buffer;
  const first = bufferOf("AAAAAAAA");
  assert.ok(first);
  for (const text of ["AAAAAAAA", "AAAA", "AAAAAAA"]) assert.equal(bufferOf(text), first, text);
  assert.notEqual(bufferOf("AAAAAAAAAAAA"), first);
});

test("a view into larger memory is written alone", () => {
  assert.equal(toBase64(Uint8Array.of(9, 1, 2, 3, 9).subarray(1, 4)), "AQID");
});
