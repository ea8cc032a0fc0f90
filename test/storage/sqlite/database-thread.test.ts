import assert from "node:assert/strict";
import { test } from "node:test";
import { storageThread } from "../../../storage/sqlite/storage-thread.js";
import { temporaryFile } from "../temporary-file.js";
import { run, temporaryThread } from "./temporary-thread.js";

test("requests to a closed file get no response, even if it is closed again, and its thread continues", async (context) => {
  const other = await temporaryThread(context);
  const { post, follow } = await storageThread().open({ filePath: temporaryFile() });
  const said: string[] = [];
  const closed = new Promise<void>((resolve) => {
    follow({
      receive: ({ kind }) => {
        said.push(kind);
        if (kind === "closed") resolve();
      },
      threadEnded: assert.ifError,
    });
  });
  post({ kind: "close" });
  post({ kind: "look" });
  post({ kind: "close" });
  await closed;
  await run(other, "select count(*) from runs");
  assert.deepEqual(said, ["closed"]);
});
