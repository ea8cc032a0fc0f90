import assert from "node:assert/strict";
import { copyFile, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { readDemo } from "../../../../engine/tenancy/seeding/demo-file.js";
import { killAtEachStep } from "../../../storage/sqlite/rigs/killed-process.js";
import { startOn } from "./demo-start.js";

const START = import.meta.resolve("./demo-start.js");
/** The calls at which the process is killed: before each write to the file or the database. */
const STEPS = ["open", "rename", "postMessage"];

test("a crash at any step of the first start leaves no organization whose keys are lost", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "parley-demo-kills-"));
  t.after(() => rm(folder, { recursive: true }));
  const template = join(folder, "template");
  await mkdir(template);
  const seeded = await startOn(template);
  await seeded.seed();
  await seeded.database.close();
  const dataDir = join(folder, "data");

  async function assertUsable(step: number): Promise<void> {
    const atDeath = await readDemo(dataDir);
    const { database, tenancy, demo } = await startOn(dataDir);
    try {
      const organizations = await tenancy.organizations.list();
      assert.ok(organizations.length === 0 || atDeath !== undefined, `step ${step}`);
      const made = await demo();
      assert.ok(made);
      if (atDeath !== undefined) assert.equal(made.apiKey, atDeath.apiKey, "the key is never lost");
      const tenant = await tenancy.apiKeys.authenticate(made.apiKey);
      assert.ok(tenant, `the key is refused after step ${step}`);
      const { email, password } = made;
      assert.ok(await tenancy.accounts.signIn({ email, password }));
      const agents = await tenancy.agents.list(tenant);
      assert.deepEqual([made.agentId], [agents[0]?.id]);
      assert.equal(agents.length, 1);
      assert.equal((await tenancy.organizations.list()).length, 1);
      assert.equal((await tenancy.apiKeys.list(tenant.organization.id)).length, 1);
      assert.deepEqual(await readDemo(dataDir), made);
    } finally {
      await database.close();
    }
  }

  const stepCount = await killAtEachStep({
    steps: STEPS,
    moduleUrl: START,
    program: `const { demo, database } = await loaded.startOn(${JSON.stringify(dataDir)});
      await demo();
      await database.close();`,
    beforeEach: async () => {
      await rm(dataDir, { recursive: true, force: true });
      await mkdir(dataDir);
      await copyFile(join(template, "parley.db"), join(dataDir, "parley.db"));
    },
    onKilled: assertUsable,
  });
  assert.ok(stepCount > 10, `${stepCount} steps`);
});
