export type FaultCode =
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
export class CallFault extends Error {
  override readonly name = "CallFault";
  readonly code: FaultCode;

  constructor(code: FaultCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** As it is where it is a fault already. */
export function asFault(error: unknown, code: FaultCode, message: string): CallFault {
  return error instanceof CallFault ? error : new CallFault(code, message, { cause: error });
}

/** With one of these the caller cannot be heard, and a call that began without a microphone goes on in writing. */
export const MICROPHONE_FAULTS: ReadonlySet<FaultCode> = new Set<FaultCode>([
  "microphoneDenied",
  "microphoneMissing",
  "microphoneBusy",
  "microphoneLost",
  "microphoneMuted",
  "microphoneNotPermitted",
]);
