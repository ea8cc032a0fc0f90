import type { VendorContext } from "../../vendors/vendor-settings.js";
import { basicAuthorization, telephonyRequest, unlessOver } from "../telephony-request.js";

const VENDOR = "plivo";

export interface PlivoAccount {
  readonly authId: string;
  readonly authToken: string;
  readonly baseUrl: string;
}

/** What Plivo's REST API can do about a call (https://www.plivo.com/docs/voice/api/call#hang-up-a-call). */
export class PlivoCalls {
  readonly #account: PlivoAccount;
  readonly #context: VendorContext;

  constructor(account: PlivoAccount, context: VendorContext) {
    this.#account = account;
    this.#context = context;
  }

  /** A call that has ended already is a success. Rejects with a VendorError. */
  async hangUp(callUuid: string): Promise<void> {
    const { authId, authToken, baseUrl } = this.#account;
    const request = telephonyRequest(this.#context, {
      vendor: VENDOR,
      baseUrl,
      method: "DELETE",
      path: `/v1/Account/${encodeURIComponent(authId)}/Call/${encodeURIComponent(callUuid)}/`,
      headers: {
        accept: "application/json",
        authorization: basicAuthorization(authId, authToken),
      },
    });
    await unlessOver(request);
  }
}
