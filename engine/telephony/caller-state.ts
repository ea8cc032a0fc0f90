import { webhookField } from "./webhook-field.js";

/** What vendors say of a call whose caller is gone. */
const OVER = new Set(["completed", "busy", "failed", "no-answer", "timeout", "canceled", "cancel"]);

/** Whether the caller is still there when the vendor asks what comes next; one of whom it says nothing is. */
export function isCallerThere(body: string, statusField = "CallStatus"): boolean {
  return !OVER.has(webhookField(body, statusField));
}
