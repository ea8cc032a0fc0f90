export type CallErrorCode =
  | "microphoneDenied"
  | "microphoneMissing"
  | "microphoneBusy"
  | "microphoneLost"
  /** By the system or by a key of the machine; `mended` tells when it is not any more. */
  | "microphoneMuted"
  /** The page's site has to permit it. */
  | "microphoneNotPermitted"
  | "pageNotSecure"
  | "soundSuspended"
  | "soundFailed"
  | "cannotConnect"
  | "connectionLost"
  | "refused"
  | "tokenFailed"
  /** The line broke, and the token that is needed to go on is no longer good. */
  | "tokenEnded"
  | "protocol"
  | "server";

/** What went wrong, in words that may be shown to the person at the microphone. */
export class CallError extends Error {
  override readonly name = "CallError";
  readonly code: CallErrorCode;

  constructor(code: CallErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** As it is where it is a fault already. */
export function asCallError(error: unknown, code: CallErrorCode, message: string): CallError {
  return error instanceof CallError ? error : new CallError(code, message, { cause: error });
}

/** With one of these the caller cannot be heard, and a call that began without a microphone goes on in writing. */
export const MICROPHONE_ERRORS: ReadonlySet<CallErrorCode> = new Set<CallErrorCode>([
  "microphoneDenied",
  "microphoneMissing",
  "microphoneBusy",
  "microphoneLost",
  "microphoneMuted",
  "microphoneNotPermitted",
]);
