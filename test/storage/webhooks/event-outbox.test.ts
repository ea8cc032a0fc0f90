import assert from "node:assert/strict";
import { test } from "node:test";
import { DummyDriver, Kysely, SqliteAdapter, SqliteQueryCompiler } from "kysely";
import type { Tables } from "../../../storage/tables.js";
import { EventOutbox } from "../../../storage/webhooks/event-outbox.js";
import { newEvent } from "../../../storage/webhooks/event-record.js";

test("the statements of all events have the same text, each with its own values", () => {
  const db = new Kysely<Tables>({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createDriver: () => new DummyDriver(),
      createIntrospector: () => assert.fail("the database is not introspected"),
      createQueryCompiler: () => new SqliteQueryCompiler(),
    },
  });
  const outbox = new EventOutbox(db);
  const compiled = (id: string, orgId: string) => {
    const data = { message: "hello" };
    const event = { id, orgId, type: "webhook.test", callId: null, atMs: 1, data } as const;
    return outbox.statements(newEvent(event)).map((statement) => statement.compile());
  };
  const [one, other] = [compiled("evt_1", "one"), compiled("evt_2", "other")];
  assert.deepEqual(
    one.map(({ sql }) => sql),
    other.map(({ sql }) => sql),
  );
  assert.deepEqual(one[0]?.parameters, [
    "evt_1",
    "one",
    "webhook.test",
    null,
    1,
    '{"message":"hello"}',
    "one",
    '%"webhook.test"%',
  ]);
  assert.equal(other[1]?.parameters[0], "evt_2_");
});
