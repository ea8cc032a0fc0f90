import { usePostgresDatabases } from "./template-databases.js";

/** What the stores promise, promised by PostgreSQL too: every test that opens a file by its name stays with SQLite. */
await usePostgresDatabases({ connectionsMax: 4 });

await import("../storage/calls/abandoned-calls.test.js");
await import("../storage/tenancy/agent-store.test.js");
await import("../storage/tenancy/api-key-store.test.js");
await import("../storage/tenancy/audit-store.test.js");
await import("../storage/calls/call-analyses.test.js");
await import("../storage/calls/call-list-store.test.js");
await import("../storage/calls/call-queries.test.js");
await import("../storage/calls/call-store.test.js");
await import("../storage/calls/history-store.test.js");
await import("../storage/calls/idempotency-store.test.js");
await import("../engine/calls/idempotent-requests.test.js");
await import("../storage/tenancy/limited-inserts.test.js");
await import("../storage/tenancy/dial-target-store.test.js");
await import("../storage/tenancy/organization-overview-store.test.js");
await import("../storage/tenancy/organization-store.test.js");
await import("../storage/tenancy/owner-columns.test.js");
await import("../storage/tenancy/phone-number-store.test.js");
await import("../storage/tenancy/telephony-account-store.test.js");
await import("../storage/tenancy/plan-store.test.js");
await import("../storage/tenancy/provider-store.test.js");
await import("../storage/calls/recording-store.test.js");
await import("../storage/tenancy/registry-store.test.js");
await import("../storage/tenancy/sealed-credential-store.test.js");
await import("../storage/calls/usage-store.test.js");
await import("../storage/webhooks/webhook-store.test.js");
await import("../storage/jobs/job-store.test.js");
await import("../storage/knowledge/knowledge-store.test.js");
await import("../storage/knowledge/embedding-store.test.js");
await import("../storage/tenancy/user-store.test.js");
await import("../engine/calls/outbound/placed-call-job.test.js");
