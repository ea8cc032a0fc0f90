import { PostgresCluster } from "../../bench/stand/postgres-cluster.js";
import { openDatabase } from "../../storage/database.js";
import { temporaryFile, useDatabases } from "../storage/temporary-file.js";

/** What the stores promise, promised by PostgreSQL too: every test that opens a file by its name stays with SQLite. */
const cluster = await PostgresCluster.start();
const templateUrl = await cluster.makeDatabase();
await (await openDatabase({ filePath: temporaryFile(), url: templateUrl })).close();
const template = new URL(templateUrl).pathname.slice(1);

useDatabases(async () => {
  const url = await cluster.makeDatabase(template);
  return openDatabase({ filePath: temporaryFile(), url, connectionsMax: 4 });
});

await import("../storage/abandoned-calls.test.js");
await import("../storage/agent-store.test.js");
await import("../storage/api-key-store.test.js");
await import("../storage/audit-store.test.js");
await import("../storage/call-queries.test.js");
await import("../storage/call-store.test.js");
await import("../storage/history-store.test.js");
await import("../storage/organization-overview-store.test.js");
await import("../storage/organization-store.test.js");
await import("../storage/owner-columns.test.js");
await import("../storage/plan-store.test.js");
await import("../storage/provider-store.test.js");
await import("../storage/recording-store.test.js");
await import("../storage/registry-store.test.js");
await import("../storage/sealed-credential-store.test.js");
await import("../storage/usage-store.test.js");
await import("../storage/user-store.test.js");
