import * as v from "valibot";
import { VendorError } from "./contracts.js";
import type { RefusedAnswer } from "./http-stream.js";
import { telephonyRequest } from "./telephony-request.js";
import { faultOfStatus } from "./vendor-fault.js";
import { tryParse } from "./vendor-json.js";
import type { VendorContext } from "./vendor-settings.js";

const VENDOR = "telnyx";
const STATUS_GONE = 404;
/** "Call has already ended", with the status 422. */
const CODE_ENDED = "90018";
const Refusal = v.object({
  errors: v.tupleWithRest([v.object({ code: v.string() })], v.unknown()),
});

export interface TelnyxAccount {
  readonly apiKey: string;
  readonly baseUrl: string;
}

/** Its words may hold telephone numbers, so only its number for the reason is kept. */
class TelnyxRefusal extends VendorError {
  readonly code: string | undefined;

  constructor(status: number, code: string | undefined) {
    const words = `${VENDOR} answered ${status}${code === undefined ? "" : `: error ${code}`}`;
    super(VENDOR, faultOfStatus(status), words, { status });
    this.code = code;
  }
}

/** What Telnyx's REST API can do about a call (https://developers.telnyx.com/api-reference/call-commands/hangup). */
export class TelnyxCalls {
  readonly #account: TelnyxAccount;
  readonly #context: VendorContext;

  constructor(account: TelnyxAccount, context: VendorContext) {
    this.#account = account;
    this.#context = context;
  }

  /** A call that has ended already is a success. Rejects with a VendorError. */
  async hangUp(callControlId: string): Promise<void> {
    const { apiKey, baseUrl } = this.#account;
    try {
      await telephonyRequest(this.#context, {
        vendor: VENDOR,
        baseUrl,
        method: "POST",
        path: `/v2/calls/${encodeURIComponent(callControlId)}/actions/hangup`,
        headers: {
          accept: "application/json",
          authorization: `Bearer ${apiKey}`,
          "content-type": "application/json",
        },
        body: "{}",
        refuse,
      });
    } catch (error) {
      const isOver =
        error instanceof TelnyxRefusal &&
        (error.status === STATUS_GONE || error.code === CODE_ENDED);
      if (!isOver) throw error;
    }
  }
}

function refuse({ status, body }: RefusedAnswer): VendorError {
  return new TelnyxRefusal(status, tryParse(Refusal, body)?.value.errors[0].code);
}
