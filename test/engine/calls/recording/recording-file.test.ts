import assert from "node:assert/strict";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import {
  openIfThere,
  RecordingFile,
  removeRecording,
  repairRecording,
  wavHeader,
} from "../../../../engine/calls/recording/recording-file.js";
import { temporaryFile } from "../../../storage/temporary-file.js";

test("a missing recording is distinguished from one that cannot be opened", async () => {
  const path = temporaryFile();
  mkdirSync(dirname(path));
  assert.equal(await openIfThere(path, "r"), undefined);
  writeFileSync(path, "");
  const handle = await openIfThere(path, "r");
  assert.ok(handle);
  await handle.close();
  await assert.rejects(openIfThere(join(path, "inside of a file"), "r"), { code: "ENOTDIR" });
});

test("a failing disk is reported once, and later writes are dropped", async () => {
  const path = temporaryFile();
  mkdirSync(dirname(path));
  writeFileSync(path, "");
  const faults: unknown[] = [];
  const inside = join(path, "inside of a file");
  const file = new RecordingFile(inside, 8_000, Promise.resolve(), (error) => faults.push(error));
  assert.equal(file.write(new Uint8Array(320)), true);
  assert.equal(await file.finish(), undefined);
  // More than may wait for a disk that is slow.
  assert.equal(file.write(new Uint8Array(1_048_577)), true);
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

/** A path whose folder is there. */
function pathInFolder(): string {
  const path = temporaryFile();
  mkdirSync(dirname(path));
  return path;
}

test("a recording is written under a temporary name, for the server's own account, and renamed when it is complete", async () => {
  const path = temporaryFile();
  const file = new RecordingFile(path, 8_000, Promise.resolve(), assert.ifError);
  const block = Buffer.from("the sound of a call.");
  assert.equal(file.write(block), true);
  assert.equal(existsSync(path), false);
  assert.deepEqual(await file.finish(), { bytes: 64, durationSec: 0.001 });
  assert.deepEqual(readFileSync(path), Buffer.concat([wavHeader(8_000, 20), block]));
  assert.equal(statSync(path).mode & 0o777, 0o600);
  assert.equal(statSync(dirname(path)).mode & 0o777, 0o700);
  assert.equal(existsSync(`${path}.part`), false);
});

test("nothing is written before it is known of the recording, nor over what another call has written", async () => {
  const path = pathInFolder();
  const faults: unknown[] = [];
  const unknown = new Error("no such call");
  const onFault = (error: unknown) => faults.push(error);
  const refused = new RecordingFile(path, 8_000, Promise.reject(unknown), onFault);
  assert.equal(await refused.finish(), undefined);
  assert.deepEqual([faults, existsSync(`${path}.part`)], [[unknown], false]);
  writeFileSync(`${path}.part`, "another call's");
  const second = new RecordingFile(path, 8_000, Promise.resolve(), onFault);
  await second.finish();
  assert.equal(readFileSync(`${path}.part`, "utf8"), "another call's");
  assert.match(String(faults[1]), /EEXIST/);
});

test("a file that was left is put right by its length, and one with nothing in it, or of another kind, is left alone", async () => {
  for (const [rateHz, soundBytes, durationSec] of [
    [8_000, 4, 0],
    [8_000, 7, 0],
    [8_000, 4 * 8_003, 1],
    [8_000, 4 * 8_004, 1.001],
    [16_000, 4 * 8_000, 0.5],
  ] as const) {
    const path = pathInFolder();
    writeFileSync(`${path}.part`, Buffer.concat([wavHeader(rateHz, 0), Buffer.alloc(soundBytes)]));
    const dataBytes = soundBytes === 7 ? 4 : soundBytes;
    assert.deepEqual(await repairRecording(path), { bytes: 44 + dataBytes, durationSec });
    const whole = Buffer.concat([wavHeader(rateHz, dataBytes), Buffer.alloc(dataBytes)]);
    assert.deepEqual(readFileSync(path), whole);
  }
  for (const left of [
    Buffer.alloc(0),
    wavHeader(8_000, 0),
    Buffer.concat([wavHeader(8_000, 0), Buffer.alloc(3)]),
    Buffer.alloc(100, "no sound"),
  ]) {
    const path = pathInFolder();
    writeFileSync(`${path}.part`, left);
    assert.equal(await repairRecording(path), undefined);
    assert.deepEqual([existsSync(path), readFileSync(`${path}.part`)], [false, left]);
  }
});

test("a complete file reports its length and duration; a missing or foreign one nothing", async () => {
  const path = pathInFolder();
  assert.equal(await repairRecording(path), undefined);
  writeFileSync(path, Buffer.concat([wavHeader(16_000, 6_400), Buffer.alloc(6_400)]));
  assert.deepEqual(await repairRecording(path), { bytes: 6_444, durationSec: 0.1 });
  writeFileSync(path, Buffer.alloc(100, "no sound"));
  assert.equal(await repairRecording(path), undefined);
});

test("a recording is removed whole or not, and what is not there is removed too", async () => {
  const path = pathInFolder();
  for (const name of [path, `${path}.part`]) writeFileSync(name, "");
  await removeRecording(path);
  assert.deepEqual([existsSync(path), existsSync(`${path}.part`)], [false, false]);
  await removeRecording(path);
});

test("a file whose disk does not keep up takes no more than its backlog", async () => {
  const path = temporaryFile();
  const faults: unknown[] = [];
  const { promise: ready, resolve } = gate();
  const file = new RecordingFile(path, 8_000, ready, (error) => faults.push(error));
  const block = new Uint8Array(1_048_576 / 4);
  assert.deepEqual(
    [1, 2, 3, 4, 5].map(() => file.write(block)),
    [true, true, true, true, false],
  );
  resolve();
  while (!file.write(block)) await new Promise(setImmediate);
  const finished = await file.finish();
  assert.equal(finished?.bytes, 44 + 5 * block.length);
  assert.deepEqual(faults, []);
});

/** The files below this place that the process has open. */
const openBelow = (folder: string) =>
  readdirSync("/proc/self/fd")
    .flatMap((descriptor) => {
      try {
        return [readlinkSync(`/proc/self/fd/${descriptor}`)];
      } catch {
        // The descriptor with which the folder itself was read.
        return [];
      }
    })
    .filter((path) => path.startsWith(folder));

test("no file stays open, whether its disk took it or not", async (context) => {
  const path = temporaryFile();
  const whole = new RecordingFile(path, 8_000, Promise.resolve(), assert.ifError);
  whole.write(new Uint8Array(4));
  await whole.finish();
  const other = await open(path, "r");
  const full = new Error("no space left on the device");
  const append = context.mock.method(Object.getPrototypeOf(other), "appendFile", () =>
    Promise.reject(full),
  );
  await other.close();
  const faults: unknown[] = [];
  const failed = temporaryFile();
  const broken = new RecordingFile(failed, 8_000, Promise.resolve(), (error) => faults.push(error));
  assert.equal(await broken.finish(), undefined);
  append.mock.restore();
  assert.deepEqual(faults, [full]);
  assert.deepEqual([openBelow(dirname(path)), openBelow(dirname(failed))], [[], []]);
});

function gate(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
