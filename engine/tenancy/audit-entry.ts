import { isJsonObject } from "../../storage/records.js";
import type { AuditAction, AuditActor, AuditRecord } from "../../storage/tenancy/audit-record.js";
import type { Tenant } from "./tenant.js";

type TargetType = AuditRecord["targetType"];

/** The record that was changed, with its name. */
export interface AuditTarget<Type extends TargetType = TargetType> {
  readonly type: Type;
  readonly id: string;
  /** null for the platform itself. */
  readonly orgId: string | null;
  readonly name: string;
}

/** The actor of changes that the platform makes and that no known person requested. */
export const SERVER_ACTOR: AuditActor = { type: "administrator", id: "server" };

export interface AuditedChange<Type extends TargetType> {
  readonly id: string;
  readonly atMs: number;
  readonly actor: AuditActor;
  readonly action: Extract<AuditAction, `${Type}.${string}`>;
  readonly target: AuditTarget<Type>;
  readonly changes?: readonly string[];
}

export function auditEntry<Type extends TargetType>(change: AuditedChange<Type>): AuditRecord {
  const { id, atMs, actor, action, target, changes = [] } = change;
  return {
    id,
    orgId: target.orgId,
    atMs,
    actor,
    action,
    targetType: target.type,
    targetId: target.id,
    targetName: target.name,
    changes,
  };
}

/** Returns the signed-in user or the API key of the request. */
export function actorOf({ userId, apiKeyId }: Pick<Tenant, "userId" | "apiKeyId">): AuditActor {
  if (userId !== undefined) return { type: "user", id: userId };
  if (apiKeyId !== undefined) return { type: "apiKey", id: apiKeyId };
  throw new Error("a change needs an actor: the tenant has neither user nor API key");
}

/** Returns the names of the fields that differ, with the path of a nested field, like `persona.greeting`. */
export function changedFields(before: object, after: object): readonly string[] {
  const earlier = new Map<string, unknown>(Object.entries(before));
  return Object.entries(after).flatMap(([name, value]: [string, unknown]) => {
    const was = earlier.get(name);
    if (JSON.stringify(was) === JSON.stringify(value)) return [];
    if (!isJsonObject(was) || !isJsonObject(value)) return [name];
    return changedFields(was, value).map((inner) => `${name}.${inner}`);
  });
}
