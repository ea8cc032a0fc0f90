import type { Ending } from "../../conversation/call-end.js";
import type { OutboundClaims } from "../../security/outbound-token.js";
import type { CallInfo } from "../../telephony/call-info.js";
import type { Soon } from "../../time/soon.js";
import type { LiveCall } from "../live-calls.js";
import type { OutboundReport } from "./outbound-ending.js";

/** What opens the session of a placed call rejects with it where the call is to be recorded with that ending. */
export class CallNotTaken extends Error {
  override readonly name = "CallNotTaken";
  readonly ending: Ending;

  constructor(ending: Ending) {
    super(ending.message);
    this.ending = ending;
  }
}

/** The placed calls as the vendor's requests reach them, in whichever session process of the box they are. */
export interface PlacedCalls {
  answering(token: string): Soon<OutboundClaims | undefined>;
  connect<Session extends LiveCall>(
    callId: string,
    orgId: string,
    open: (callInfo: CallInfo | undefined) => Promise<Session>,
  ): Promise<Session | undefined>;
  report(token: string, report: OutboundReport): Promise<boolean>;
}

/** A call that waits for its answer, on its way from one session process to another. */
export interface HandedOver {
  readonly claims: OutboundClaims;
  readonly callRef: string | undefined;
  /** Left out by releases that did not keep it. */
  readonly callInfo?: CallInfo | undefined;
  /** Empty while the vendor has not told. */
  readonly answeredBy: string;
}
