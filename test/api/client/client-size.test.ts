import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { test } from "node:test";

const SIZE_MAX_BYTES = 15 * 1024;
const BUILT = new URL("../../../client/", import.meta.url);

test("the browser's client and its worklet together have at most 15 kB after gzip", () => {
  const sizes = ["parley-client.js.gz", "audio-worklet.js.gz"].map(
    (name) => statSync(new URL(name, BUILT)).size,
  );
  const sizeBytes = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(sizeBytes <= SIZE_MAX_BYTES, `${sizeBytes} bytes`);
});
