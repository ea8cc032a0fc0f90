import * as v from "valibot";
import { tryParse } from "../../vendors/vendor-json.js";
import type { VendorContext } from "../../vendors/vendor-settings.js";
import { telephonyRequest, unlessOver } from "../telephony-request.js";

const VENDOR = "telnyx";
/** "Call has already ended", with the status 422. */
const CODE_ENDED = "90018";
const Refusal = v.object({
  errors: v.tupleWithRest([v.object({ code: v.string() })], v.unknown()),
});

export interface TelnyxAccount {
  readonly apiKey: string;
  readonly baseUrl: string;
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
    const request = telephonyRequest(this.#context, {
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
      codeOf: (body) => tryParse(Refusal, body)?.value.errors[0].code,
    });
    await unlessOver(request, CODE_ENDED);
  }
}
