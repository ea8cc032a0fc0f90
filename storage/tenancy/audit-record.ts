/**
 * A user or an API key of the organization. `administrator`: the platform; its id is the name of an account or the id
 * of an operator.
 */
export interface AuditActor {
  readonly type: "user" | "apiKey" | "administrator";
  readonly id: string;
}

export type AuditAction =
  | "agent.create"
  | "agent.update"
  | "agent.delete"
  | "agent.reseal"
  | "provider.create"
  | "provider.update"
  | "provider.delete"
  | "provider.reseal"
  | "apiKey.create"
  | "apiKey.revoke"
  | "organization.create"
  | "organization.rename"
  | "organization.activate"
  | "organization.suspend"
  | "organization.changePlan"
  | "organization.allowNumber"
  | "organization.revokeNumber"
  | "organization.assignNumber"
  | "organization.importNumber"
  | "organization.releaseNumber"
  | "organization.addDoNotCall"
  | "organization.removeDoNotCall"
  | "organization.grantOperator"
  | "organization.revokeOperator"
  | "member.create"
  | "member.update"
  | "member.delete"
  | "node.drain"
  | "webhook.create"
  | "webhook.update"
  | "webhook.delete"
  | "webhook.rotateSecret"
  | "webhook.disable"
  | "webhook.reseal"
  | "document.create"
  | "document.update"
  | "document.delete"
  | "telephonyAccount.create"
  | "telephonyAccount.update"
  | "telephonyAccount.delete"
  | "telephonyAccount.reseal"
  | "call.listen"
  | "call.say"
  | "call.addContext"
  | "call.sendDtmf"
  | "call.mute"
  | "call.unmute"
  | "call.transfer"
  | "call.end"
  | "call.commandFailed"
  | "callList.create"
  | "callList.start"
  | "callList.pause"
  | "callList.resume"
  | "callList.cancel"
  | "callList.delete";

/** Who changed what, and when. Contains the names of the changed fields, never their values. */
export interface AuditRecord {
  readonly id: string;
  /** null if the changed object belongs to the platform. */
  readonly orgId: string | null;
  readonly atMs: number;
  readonly actor: AuditActor;
  readonly action: AuditAction;
  readonly targetType:
    | "agent"
    | "provider"
    | "apiKey"
    | "organization"
    | "member"
    | "node"
    | "webhook"
    | "document"
    | "telephonyAccount"
    | "call"
    | "callList";
  readonly targetId: string;
  /** The target's name at the time. */
  readonly targetName: string;
  /**
   * Names of the fields that an update changed, those of nested objects with dots. Of a failed command, its action and the code of its
   * error.
   */
  readonly changes: readonly string[];
}
