/** Why a call is not begun; the edge maps it to a close code or to a spoken sentence. */
export type RefusalReason =
  | "agentNotFound"
  | "providerUnavailable"
  | "modelNotAllowed"
  | "limitReached"
  | "vendorFailed"
  | "overloaded"
  | "callerLeft"
  | "serverStopping";

/** The message may be told to the caller. */
export class OpenRefusal extends Error {
  override readonly name = "OpenRefusal";
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
