import assert from "node:assert/strict";
import { test } from "node:test";
import { audioOf, configFrame, ssmlFrame } from "../../../../engine/vendors/edge/edge.js";

const NOON_MS = Date.UTC(2026, 0, 1, 12);
const NOON = "Thu Jan 01 2026 12:00:00 GMT+0000 (Coordinated Universal Time)";

test("a connection gets the audio format, and the setting without sentence and word boundaries", () => {
  const audio = {
    metadataoptions: { sentenceBoundaryEnabled: "false", wordBoundaryEnabled: "false" },
    outputFormat: "mp3",
  };
  const lines = [
    `X-Timestamp:${NOON}`,
    "Content-Type:application/json; charset=utf-8",
    "Path:speech.config",
    "",
    JSON.stringify({ context: { synthesis: { audio } } }),
  ];
  assert.equal(configFrame(NOON_MS, "mp3"), lines.join("\r\n"));
});

test("a sentence is requested in its language, voice, pitch, speed and volume", () => {
  const turn = {
    requestId: "7",
    epochMs: NOON_MS,
    language: "de'",
    voice: "Katja",
    text: "a &lt; b",
  };
  for (const [speed, rate] of [
    [0.5, "-50%"],
    [0.994, "-1%"],
    [0.996, "+0%"],
    [1.004, "+0%"],
    [1.25, "+25%"],
  ] as const) {
    const lines = [
      "X-RequestId:7",
      "Content-Type:application/ssml+xml",
      `X-Timestamp:${NOON}Z`,
      "Path:ssml",
      "",
      "<speak version='1.0' xmlns='http://www.w3.org/2001/10/synthesis' xml:lang='de&apos;'>" +
        `<voice name='Katja'><prosody pitch='+1Hz' rate='${rate}' volume='-2%'>` +
        "a &lt; b</prosody></voice></speak>",
    ];
    assert.equal(ssmlFrame({ ...turn, pitch: "+1Hz", volume: "-2%", speed }), lines.join("\r\n"));
  }
});

/** A frame that lies somewhere in a larger buffer, as those of a socket may. */
function frame(header: string, sound: readonly number[], headerBytes = header.length): Buffer {
  const length = Buffer.of(headerBytes >> 8, headerBytes & 0xff);
  const before = Buffer.from("Path:other\r\n");
  return Buffer.concat([before, length, Buffer.from(header), Buffer.from(sound)]).subarray(
    before.length,
  );
}

test("audio follows a header that declares it, however long the header is", () => {
  const header = "X-RequestId:1\r\nPath:audio\r\n";
  const long = `X-Filler:${"x".repeat(300)}\r\n${header}`;
  for (const each of [header, long]) {
    assert.deepEqual([...(audioOf(frame(each, [1, 2])) ?? [9])], [1, 2]);
    assert.deepEqual([...(audioOf(frame(each, [])) ?? [9])], []);
    assert.equal(audioOf(frame(each, [], each.length + 1)), undefined, "cut off");
  }
  assert.equal(audioOf(frame("Path:turn.start\r\n", [1])), undefined);
  for (const short of [[], [0], [0, 0]]) assert.equal(audioOf(Uint8Array.from(short)), undefined);
});
