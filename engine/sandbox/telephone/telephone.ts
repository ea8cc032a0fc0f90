import { PhoneCaller } from "./phone-caller.js";

/** The longest wait of a Node timer: the stream itself reports its end. */
const WHOLE_CALL_MS = 2 ** 31 - 1;

/** The data for answering a call. */
export interface IncomingCall {
  /** Requested for the instructions of the call. */
  readonly webhookUrl: string;
  readonly callSid: string;
  readonly from: string;
  readonly to: string;
  /** Signs the webhook and the stream. */
  readonly authToken: string;
  /** Additional fields of the webhook request. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** An answered call with an open media stream. */
export interface AnsweredCall {
  /** The caller, if it is in this process. */
  readonly caller?: PhoneCaller;
  /** Resolves when the call has left its stream, or is over. */
  readonly left: Promise<unknown>;
  /** Closes the stream. */
  leave(): Promise<void>;
  /** Destroys all connections. */
  drop(): void;
}

/** A possible destination of a call. */
export interface Telephone {
  readonly isBusy: boolean;
  /** Rejects if the webhook or its stream fails. */
  answer(call: IncomingCall): Promise<AnsweredCall>;
  /** The status of the call, and of one that it is transferred to. */
  reportStatus(number: string, status: string): void;
}

/** A telephone that a simulated person answers; `talk` is what they do then. */
export function simulatedTelephone(
  talk: (caller: PhoneCaller, number: string) => Promise<void>,
): Telephone {
  return {
    isBusy: false,
    async answer(call) {
      const caller = await PhoneCaller.call(call);
      const closed = caller.until(({ type }) => type === "closed", WHOLE_CALL_MS);
      void talk(caller, call.to);
      return {
        caller,
        left: closed.catch(() => undefined),
        leave: () => caller.hangUp(),
        drop: () => caller.drop(),
      };
    },
    reportStatus() {},
  };
}
