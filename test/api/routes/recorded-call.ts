import assert from "node:assert/strict";
import { PCM_8K } from "../../../engine/audio/audio-format.js";
import type { RecordingKey } from "../../../storage/calls/recording-store.js";
import type { LoopbackPlatform } from "../http/loopback-platform.js";

const FORMAT = { input: PCM_8K, speech: PCM_8K, isPaced: true };

/** Adds a recording of this many seconds to a stored call. */
export async function recordCall(
  { services: { recordings }, clock }: LoopbackPlatform,
  key: RecordingKey,
  seconds = 1,
): Promise<void> {
  const tap = recordings.startRecording(
    key,
    { recording: { enabled: true, retentionDays: 30 } },
    FORMAT,
  );
  assert.ok(tap);
  for (let frame = 0; frame < seconds * 50; frame += 1) {
    clock.advance(20);
    tap.caller(new Uint8Array(new Int16Array(160).fill(frame).buffer));
  }
  tap.end();
  await recordings.close();
}
