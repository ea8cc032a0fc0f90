import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { openDatabase } from "../../../storage/database.js";
import { StorageUnavailableError } from "../../../storage/statements/storage-error.js";
import { planRecord } from "../sample-records.js";
import { temporaryDatabase, temporaryFile } from "../temporary-file.js";
import { otherProcess, saidBy } from "./other-process.js";

test("a SQLite file has one server at a time, and any number of commands", async (context) => {
  const filePath = temporaryFile();
  const server = await openDatabase({ filePath, isServer: true });
  await assert.rejects(
    openDatabase({ filePath, isServer: true }),
    (error) =>
      error instanceof StorageUnavailableError && /another server runs on/.test(error.message),
  );
  const commandLine = await temporaryDatabase(context, filePath);
  assert.equal(commandLine.isSoleServer, true, "it is not a server");
  await commandLine.plans.insertIfAbsent(planRecord());
  assert.deepEqual(await server.plans.list(), [planRecord()]);
  await server.close();
  const next = await openDatabase({ filePath, isServer: true });
  await next.close();
});

test("a server in another process holds the file until it dies, however it dies", async () => {
  const filePath = temporaryFile();
  const other = otherProcess(
    filePath,
    `await openDatabase({ filePath: ${JSON.stringify(filePath)}, isServer: true });
    say("claimed");`,
  );
  assert.equal(await saidBy(other), "claimed");
  await assert.rejects(openDatabase({ filePath, isServer: true }), /another server runs on/);
  other.kill("SIGKILL");
  await once(other, "exit");
  const next = await openDatabase({ filePath, isServer: true });
  await next.close();
});
