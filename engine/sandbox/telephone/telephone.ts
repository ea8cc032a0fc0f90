import { PhoneCaller } from "./phone-caller.js";

/** The longest that a timer of Node can wait: the stream itself tells when it is over. */
const WHOLE_CALL_MS = 2 ** 31 - 1;

/** What somebody needs to know who takes a call. */
export interface IncomingCall {
  /** Asked what to do with the call. */
  readonly webhookUrl: string;
  readonly callSid: string;
  readonly from: string;
  readonly to: string;
  /** Signs the webhook and the stream. */
  readonly authToken: string;
  /** What the webhook is told beside the usual. */
  readonly fields?: Readonly<Record<string, string>>;
}

/** A call that was taken, and whose media stream is open. */
export interface AnsweredCall {
  /** Who talks, when it is somebody in this process. */
  readonly caller?: PhoneCaller;
  /** Resolves when the call has left its stream, or is over. */
  readonly left: Promise<unknown>;
  /** Closes the stream. */
  leave(): Promise<void>;
  /** Breaks everything off. */
  drop(): void;
}

/** Where a call may end up. */
export interface Telephone {
  readonly isBusy: boolean;
  /** Rejects when the webhook or its stream cannot be had. */
  answer(call: IncomingCall): Promise<AnsweredCall>;
  /** What becomes of the call, and of one that it is handed on to. */
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
