import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { checkDatabase } from "../../storage/sqlite/database-check.js";
import { TestServer } from "./test-server.js";

const HOUR_MS = 60 * 60 * 1_000;

test("a server that is restarted often keeps no data that only its earlier runs needed", async (context) => {
  const dataDir = await mkdtemp(join(tmpdir(), "parley-restarts-"));
  context.after(() => rm(dataDir, { recursive: true }));
  const rowsOf = (name: string) => {
    const { findings, counts } = checkDatabase(join(dataDir, "parley.db"));
    assert.deepEqual(findings, []);
    return counts.find(({ table }) => table === name)?.rows;
  };
  const said = [{ role: "user", content: "hello" }] as const;
  for (let start = 1; start <= 3; start += 1) {
    const server = await TestServer.start({ dataDir });
    assert.equal(rowsOf("runs"), 1);
    assert.equal(rowsOf("sessionHistory"), start === 1 ? 0 : 1, "what can still be continued");
    const { tenant } = await server.customer();
    const { history } = server.database;
    await history.replace(
      { orgId: tenant.organization.id, key: "yesterday's" },
      [],
      said,
      Date.now() - 25 * HOUR_MS,
    );
    if (start === 1)
      await history.replace({ orgId: tenant.organization.id, key: "fresh" }, [], said, Date.now());
    await server.stop();
  }
});
