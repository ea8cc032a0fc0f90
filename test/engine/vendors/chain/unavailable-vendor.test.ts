import assert from "node:assert/strict";
import { test } from "node:test";
import { MP3, MULAW_8K, PCM_24K } from "../../../../engine/audio/audio-format.js";
import { UnavailableVendor } from "../../../../engine/vendors/chain/unavailable-vendor.js";
import { VendorError } from "../../../../engine/vendors/contracts.js";

test("an unavailable vendor fails with the reason, for every request, and accepts every format", async () => {
  const reason = new VendorError("acme", "unauthorized", "acme: no API key is configured");
  const lost = new UnavailableVendor(reason);
  lost.warm();
  for (const asked of [lost.complete(), lost.synthesize(), lost.open()]) {
    await assert.rejects(asked, reason);
  }
  assert.deepEqual(lost.formats, [MP3, MULAW_8K, PCM_24K]);
});
