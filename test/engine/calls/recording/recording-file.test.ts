import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { openIfThere, RecordingFile } from "../../../../engine/calls/recording/recording-file.js";
import { temporaryFile } from "../../../storage/temporary-file.js";

test("a recording that is not there is told from one that cannot be opened", async () => {
  const path = temporaryFile();
  mkdirSync(dirname(path));
  assert.equal(await openIfThere(path, "r"), undefined);
  writeFileSync(path, "");
  const handle = await openIfThere(path, "r");
  assert.ok(handle);
  await handle.close();
  await assert.rejects(openIfThere(join(path, "inside of a file"), "r"), { code: "ENOTDIR" });
});

test("a disk that fails is told of once, and what is written then is dropped", async () => {
  const path = temporaryFile();
  mkdirSync(dirname(path));
  writeFileSync(path, "");
  const faults: unknown[] = [];
  const inside = join(path, "inside of a file");
  const file = new RecordingFile(inside, 8_000, Promise.resolve(), (error) => faults.push(error));
  assert.equal(file.write(new Uint8Array(320)), true);
  assert.equal(await file.finish(), undefined);
  assert.equal(file.write(new Uint8Array(320)), true);
  assert.equal(await file.finish(), undefined);
  assert.equal(faults.length, 1);
});

test("a recording that is as long as a file may be takes no more, and is whole", async () => {
  const path = temporaryFile();
  const headerBytes = 44;
  const sizeBytesMax = headerBytes + 3 * 320;
  const file = new RecordingFile(path, 8_000, Promise.resolve(), assert.ifError, sizeBytesMax);
  const block = new Uint8Array(320);
  assert.deepEqual(
    [1, 2, 3, 4].map(() => file.write(block)),
    [true, true, true, false],
  );
  assert.equal(file.write(new Uint8Array(1)), false);
  assert.deepEqual(await file.finish(), { bytes: sizeBytesMax, durationSec: 0.03 });
});
