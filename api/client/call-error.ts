export type CallErrorCode =
  | "microphoneDenied"
  | "microphoneMissing"
  | "microphoneBusy"
  | "microphoneLost"
  /** The system or a mute key has muted the microphone; a `mended` event reports the end of it. */
  | "microphoneMuted"
  /** The page's site has to permit the microphone. */
  | "microphoneNotPermitted"
  | "pageNotSecure"
  | "soundSuspended"
  | "soundFailed"
  | "cannotConnect"
  | "connectionLost"
  | "refused"
  | "tokenFailed"
  /** The connection broke, and the token for reconnecting has expired. */
  | "tokenEnded"
  | "protocol"
  | "server";

interface CallErrorOptions extends ErrorOptions {
  readonly serverCode?: string;
}

/** An error with a message for the person at the microphone. */
export class CallError extends Error {
  override readonly name = "CallError";
  readonly code: CallErrorCode;
  /** The server's code of a `server` error, from its list of error codes. Empty if there is none. */
  readonly serverCode: string;

  constructor(code: CallErrorCode, message: string, options: CallErrorOptions = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.code = code;
    this.serverCode = options.serverCode ?? "";
  }
}

/** Returned unchanged if it already is a CallError. */
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
