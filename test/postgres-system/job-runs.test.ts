import { usePostgresDatabases } from "./template-databases.js";

/**
 * Jobs that a virtual clock drives. With one connection PostgreSQL answers all requests in order, as SQLite does: the tests move the
 * clock when a poll is over, and tell that by their own requests.
 */
await usePostgresDatabases({ connectionsMax: 1 });

await import("../engine/calls/lists/call-list-job.test.js");
