import type { AuditTrail } from "../../engine/tenancy/audit-trail.js";
import type { AuditRecord } from "../../storage/tenancy/audit-record.js";
import type { Handlers } from "../http/endpoints/api-endpoint.js";
import { timestamp } from "./timestamp.js";

/** The account names of the platform's people are for the platform. */
const ADMINISTRATOR = { type: "administrator", id: "platform" } as const;

export function auditRoutes(auditTrail: AuditTrail): Handlers<"listAudit"> {
  return {
    listAudit: async ({ tenant, query }) => {
      const { items, total } = await auditTrail.list(tenant, query);
      const { id: orgId } = tenant.organization;
      return { items: items.map((entry) => auditView(entry, orgId)), total, ...query };
    },
  };
}

function auditView({ atMs, actor, changes, ...entry }: AuditRecord, orgId: string) {
  return {
    ...entry,
    orgId,
    at: timestamp(atMs),
    actor: actor.type === "administrator" ? ADMINISTRATOR : actor,
    changes: [...changes],
  };
}
