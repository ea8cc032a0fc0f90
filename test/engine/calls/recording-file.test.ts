import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { openIfThere } from "../../../engine/calls/recording-file.js";
import { temporaryFile } from "../../storage/temporary-file.js";

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
