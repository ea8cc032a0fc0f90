import { VendorError } from "./contracts.js";
import { basicAuthorization, telephonyRequest } from "./telephony-request.js";
import { faultOfStatus } from "./vendor-fault.js";
import type { VendorContext } from "./vendor-settings.js";

const VENDOR = "plivo";
const STATUS_GONE = 404;

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
    try {
      await telephonyRequest(this.#context, {
        vendor: VENDOR,
        baseUrl,
        method: "DELETE",
        path: `/v1/Account/${encodeURIComponent(authId)}/Call/${encodeURIComponent(callUuid)}/`,
        headers: {
          accept: "application/json",
          authorization: basicAuthorization(authId, authToken),
        },
        // Its words may hold telephone numbers.
        refuse: ({ status }) =>
          new VendorError(VENDOR, faultOfStatus(status), `${VENDOR} answered ${status}`, {
            status,
          }),
      });
    } catch (error) {
      if (!(error instanceof VendorError) || error.status !== STATUS_GONE) throw error;
    }
  }
}
