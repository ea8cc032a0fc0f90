import assert from "node:assert/strict";
import { test } from "node:test";
import { joinDatabase } from "../../../storage/database.js";
import { askedDatabase } from "../nodes/asked-database.js";
import { agentRecord, providerRecord } from "../sample-records.js";

test("with concurrent writers, inserts for one organization run one after the other", async () => {
  const { database, asked, answers } = askedDatabase();
  answers.push([[{ id: "org" }], 1], [[{ id: "org" }], 0]);
  const insert = () => database.agents.insert(agentRecord(), 3);
  assert.deepEqual([await insert(), await insert()], [true, false]);
  const [[turn, inserted, ...rest] = []] = asked;
  assert.equal(turn?.sql, `select "id" from "organizations" where "id" = $1 for no key update`);
  assert.deepEqual(turn?.parameters, ["org"]);
  assert.match(
    inserted?.sql ?? "",
    /^insert into "agents" \(.*\) select .* where \(select count\(\*\) from "agents" where "orgId" = \$\d+\) < \$\d+$/s,
  );
  assert.deepEqual(inserted?.parameters.slice(-2), ["org", 3]);
  assert.deepEqual(rest, []);
});

test("the platform's rows are inserted without a limit", async () => {
  const { database, asked, answers } = askedDatabase();
  answers.push([1]);
  assert.equal(await database.providers.insertOwned(providerRecord({ orgId: null }), 3), true);
  assert.deepEqual(
    asked.map((statements) => statements.length),
    [1],
  );
});

test("a provider that another server has just given to an agent is in use", async () => {
  const database = joinDatabase("many", {
    run: async () => ({
      results: undefined,
      fault: { kind: "foreignKey" },
      writeFault: undefined,
    }),
    checkHealth: async () => ({ fault: undefined, warning: undefined }),
  });
  assert.equal(await database.providers.removeUnused("provider", "org"), "inUse");
});
