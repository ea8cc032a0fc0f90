export interface AuditEntryView {
  readonly action: string;
  readonly targetName: string;
  readonly changes: readonly string[];
  readonly actor: { readonly type: "user" | "apiKey" | "administrator"; readonly id: string };
}

const VERBS: Readonly<Record<string, string>> = {
  "agent.create": "created the agent",
  "agent.update": "changed the agent",
  "agent.delete": "deleted the agent",
  "agent.reseal": "re-encrypted the secrets of the agent",
  "provider.create": "added the provider",
  "provider.update": "changed the provider",
  "provider.delete": "deleted the provider",
  "provider.reseal": "re-encrypted the credentials of the provider",
  "apiKey.create": "created the API key",
  "apiKey.revoke": "revoked the API key",
  "webhook.create": "added the webhook endpoint",
  "webhook.update": "changed the webhook endpoint",
  "webhook.delete": "removed the webhook endpoint",
  "webhook.rotateSecret": "created a new secret for the webhook endpoint",
  "webhook.disable": "disabled the webhook endpoint",
  "document.create": "added the document",
  "document.update": "changed the document",
  "document.delete": "deleted the document",
  "telephonyAccount.create": "added the telephony account",
  "telephonyAccount.update": "changed the telephony account",
  "telephonyAccount.delete": "deleted the telephony account",
  "telephonyAccount.reseal": "re-encrypted the credentials of the telephony account",
  "call.listen": "listened in on the call",
  "call.say": "had the agent say something in the call",
  "call.addContext": "gave the LLM a note in the call",
  "call.sendDtmf": "sent DTMF in the call",
  "call.mute": "muted the agent of the call",
  "call.unmute": "unmuted the agent of the call",
  "call.transfer": "transferred the caller of the call",
  "call.end": "ended the call",
  "call.commandFailed": "gave a command that failed in the call",
  "callList.create": "uploaded the call list",
  "callList.start": "started the call list",
  "callList.pause": "paused the call list",
  "callList.resume": "resumed the call list",
  "callList.cancel": "cancelled the call list",
  "callList.delete": "deleted the call list",
  "member.create": "added the member",
  "member.update": "changed the member",
  "member.delete": "removed the member",
  "organization.create": "created the organization",
  "organization.rename": "renamed the organization to",
  "organization.activate": "activated the organization",
  "organization.suspend": "suspended the organization",
  "organization.changePlan": "changed the plan of the organization",
  "organization.allowNumber": "allowed a number to the organization",
  "organization.revokeNumber": "took a number from the organization",
  "organization.assignNumber": "chose who answers a number of",
  "organization.importNumber": "imported a number to",
  "organization.releaseNumber": "released an imported number of",
  "organization.addDoNotCall": "added numbers to the do-not-call list of",
  "organization.removeDoNotCall": "removed a number from the do-not-call list of",
  "organization.grantOperator": "granted platform operator in",
  "organization.revokeOperator": "revoked platform operator in",
};

/** Who reads the sentences, and what the others are called. */
export interface AuditReader {
  readonly userId: string;
  /** Names of the members there are now, by id. */
  readonly nameById: ReadonlyMap<string, string>;
}

/** Tells one change as a sentence. */
export function auditSentence(entry: AuditEntryView, reader: AuditReader): string {
  const verb = VERBS[entry.action] ?? entry.action;
  const fields = entry.changes.length === 0 ? "" : ` (${entry.changes.join(", ")})`;
  return `${actorWords(entry.actor, reader)} ${verb} “${entry.targetName}”${fields}.`;
}

function actorWords(
  { type, id }: AuditEntryView["actor"],
  { userId, nameById }: AuditReader,
): string {
  if (type === "administrator") return "The platform";
  if (type === "apiKey") return "An API key";
  return id === userId ? "You" : (nameById.get(id) ?? "A member");
}
