import { test } from "node:test";
import { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import { callThrough } from "../system/store-fault-call.js";

test("a call continues while PostgreSQL is down, and is stored completely when it is back", async (t) => {
  const cluster = await PostgresCluster.start();
  const rig = {
    environment: { DATABASE_URL: await cluster.makeDatabase() },
    answersReaders: false,
    breakStore: () => cluster.stop(),
    mendStore: () => cluster.resume(),
  } as const;
  await callThrough(t, rig, /the database cannot be reached/);
});
