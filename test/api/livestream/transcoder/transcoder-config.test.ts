import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTranscoderConfig } from "../../../../api/livestream/transcoder/transcoder-config.js";

test("every wrong setting is named", () => {
  const wrong = {
    SEGMENT_SECONDS: "5",
    LADDER: "720:lots 480:1200:96",
    PRESET: "; rm -rf /",
    SOURCE_URL: "rtsp://127.0.0.1/live",
  };
  const faults = [
    /SEGMENT_SECONDS: expected a whole number from 1 to 2/,
    /LADDER: expected 'short side:video kbit\/s:audio kbit\/s', largest first, not '720:lots'/,
    /PRESET: expected one of ultrafast, /,
    /SOURCE_URL: expected an address with the word KEY in it/,
  ];
  for (const fault of faults) assert.throws(() => parseTranscoderConfig(wrong), fault);
});

test("settings that do not go together are refused", () => {
  const uneven = { SEGMENT_SECONDS: "1", GOP_SECONDS: "2" };
  assert.throws(() => parseTranscoderConfig(uneven), /SEGMENT_SECONDS: expected a multiple of GOP/);
  const short = { HEARTBEAT_SECONDS: "30" };
  assert.throws(() => parseTranscoderConfig(short), /LEASE_SECONDS: expected more than HEARTBEAT/);
});

test("a ladder is read in its order", () => {
  const { ladder } = parseTranscoderConfig({ LADDER: "480:1200:96  240:350:48" });
  assert.deepEqual(ladder, [
    { name: "480p", shortSide: 480, videoKbps: 1_200, audioKbps: 96 },
    { name: "240p", shortSide: 240, videoKbps: 350, audioKbps: 48 },
  ]);
});
