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

interface CallErrorOptions extends ErrorOptions {
  readonly serverCode?: string;
}

/** What went wrong, in words that may be shown to the person at the microphone. */
export class CallError extends Error {
  override readonly name = "CallError";
  readonly code: CallErrorCode;
  /** The server's code of a `server` error, as its list of error codes has it. Empty where it gave none. */
  readonly serverCode: string;

  constructor(code: CallErrorCode, message: string, options: CallErrorOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.serverCode = options.serverCode ?? "";
  }
}

/** As it is where it is a fault already. */
export function asCallError(error: unknown, code: CallErrorCode, message: string): CallError {
  return error instanceof CallError ? error : new CallError(code, message, { cause: error });
}

/**
 * With one of these errors the caller cannot be heard, and a call that started without a microphone continues in text.
 */
export const MICROPHONE_ERRORS: ReadonlySet<CallErrorCode> = new Set<CallErrorCode>([
  "microphoneDenied",
  "microphoneMissing",
  "microphoneBusy",
  "microphoneLost",
  "microphoneMuted",
  "microphoneNotPermitted",
]);
