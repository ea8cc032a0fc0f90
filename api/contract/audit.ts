import * as v from "valibot";
import { Count, Id, requestObject, Timestamp, wholeNumberParameter } from "./fields.js";
import { SKIP_MAX } from "./organization.js";

const AUDIT_PAGE_MAX = 100;

export const AuditQuery = requestObject({
  skip: wholeNumberParameter("how many to skip", { min: 0, max: SKIP_MAX, preset: 0 }),
  limit: wholeNumberParameter("how many to return", { min: 1, max: AUDIT_PAGE_MAX, preset: 20 }),
});

export const AuditEntry = v.object({
  id: Id,
  orgId: Id,
  at: Timestamp,
  actor: v.object({
    type: v.picklist(["user", "apiKey", "administrator"]),
    id: v.pipe(
      v.string(),
      v.description("of the user or the API key; `platform` for an administrator of the platform"),
    ),
  }),
  action: v.picklist([
    "agent.create",
    "agent.update",
    "agent.delete",
    "agent.reseal",
    "provider.create",
    "provider.update",
    "provider.delete",
    "provider.reseal",
    "apiKey.create",
    "apiKey.revoke",
    "organization.create",
    "organization.rename",
    "organization.activate",
    "organization.suspend",
    "organization.changePlan",
    "organization.allowNumber",
    "organization.revokeNumber",
    "organization.assignNumber",
    "organization.importNumber",
    "organization.addDoNotCall",
    "organization.removeDoNotCall",
    "organization.releaseNumber",
    "organization.grantOperator",
    "organization.revokeOperator",
    "member.create",
    "member.update",
    "member.delete",
    "node.drain",
    "webhook.create",
    "webhook.update",
    "webhook.delete",
    "webhook.rotateSecret",
    "webhook.disable",
    "webhook.reseal",
    "document.create",
    "document.update",
    "document.delete",
    "telephonyAccount.create",
    "telephonyAccount.update",
    "telephonyAccount.delete",
    "telephonyAccount.reseal",
    "call.listen",
    "callList.create",
    "callList.start",
    "callList.pause",
    "callList.resume",
    "callList.cancel",
    "callList.delete",
  ]),
  targetType: v.picklist([
    "agent",
    "provider",
    "apiKey",
    "organization",
    "member",
    "node",
    "webhook",
    "document",
    "telephonyAccount",
    "call",
    "callList",
  ]),
  targetId: Id,
  targetName: v.pipe(v.string(), v.description("its name at that time")),
  changes: v.pipe(
    v.array(v.string()),
    v.description("names of the fields that an update changed, never their values"),
  ),
});

export const AuditEntries = v.object({
  items: v.array(AuditEntry),
  total: Count,
  skip: Count,
  limit: Count,
});
