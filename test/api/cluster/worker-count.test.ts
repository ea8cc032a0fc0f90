import assert from "node:assert/strict";
import { test } from "node:test";
import { workerCount } from "../../../api/cluster/worker-process-count.js";
import { uwsLoads } from "../../../api/http/backend/open-backend.js";
import { RecordingLogger } from "../../doubles/recording-logger.js";

const canShare = process.platform === "linux" && (await uwsLoads());

test("calls use all cores but one by default", async () => {
  const counts = [1, 2, 3, 8, 64].map((cores) =>
    workerCount({ workers: 0, httpBackend: "auto" }, new RecordingLogger(), cores),
  );
  assert.deepEqual(await Promise.all(counts), canShare ? [1, 1, 2, 7, 16] : [1, 1, 1, 1, 1]);
});

test("as many as an operator says, whatever the server has", async () => {
  const log = new RecordingLogger();
  assert.equal(await workerCount({ workers: 1, httpBackend: "auto" }, log, 8), 1);
  const four = await workerCount({ workers: 4, httpBackend: "auto" }, log, 2);
  assert.equal(four, canShare ? 4 : 1);
});

test("over node:http one process carries all calls; a setting for more causes a warning", async () => {
  const log = new RecordingLogger();
  assert.equal(await workerCount({ workers: 4, httpBackend: "node" }, log, 8), 1);
  assert.equal(await workerCount({ workers: 0, httpBackend: "node" }, log, 8), 1);
  assert.deepEqual(
    log.lines.map(({ level }) => level),
    ["warn", "info"],
  );
});
