import * as v from "valibot";
import { parseAnswer, tryParse } from "../../vendors/vendor-json.js";
import type { VendorContext } from "../../vendors/vendor-settings.js";
import {
  type AccountNumber,
  type AccountNumbersApi,
  type AccountNumbersPage,
  accountNumber,
  NUMBERS_PAGE_MAX_BYTES,
  readPages,
} from "../account-numbers.js";
import type { CallControlApi, CallToPlace, NextStep } from "../call-control.js";
import {
  basicAuthorization,
  isLiveAfter,
  isOver,
  telephonyRequest,
  unlessOver,
} from "../telephony-request.js";

const API_VERSION = "2010-04-01";
/** Twilio's ids are `CA` and 32 hexadecimal digits, SignalWire's are UUIDs. */
const CALL_SID = /^[\w-]{1,64}$/;
const EVENTS = ["initiated", "ringing", "answered", "completed"];

const Placed = v.object({ sid: v.pipe(v.string(), v.regex(CALL_SID)) });
/** What one page has at most at both vendors is a thousand; a record has some 1.5 kB. */
const PAGE_SIZE = 100;
const NumbersPage = v.object({
  incoming_phone_numbers: v.array(
    v.object({
      sid: v.pipe(v.string(), v.regex(CALL_SID)),
      phone_number: v.string(),
      friendly_name: v.optional(v.nullable(v.string())),
      voice_url: v.optional(v.nullable(v.string())),
    }),
  ),
  next_page_uri: v.optional(v.nullable(v.string())),
});
/** "Call is not in-progress": https://www.twilio.com/docs/api/errors/21220. */
const CODE_ENDED = 21_220;
const CallStatus = v.object({ status: v.string() });
const LIVE = new Set(["queued", "initiated", "ringing", "in-progress"]);
const Refusal = v.object({ code: v.optional(v.nullable(v.number())) });

export interface TwilioAccount {
  readonly vendor: "twilio" | "signalwire";
  readonly accountSid: string;
  readonly authToken: string;
  readonly baseUrl: string;
}

/**
 * Twilio's REST API of calls (https://www.twilio.com/docs/voice/api/call-resource), and SignalWire's, which has the same fields
 * but no `Twiml` (https://developer.signalwire.com/compatibility-api/client-sdks/methods/calls). Rejects with a VendorError.
 */
export class TwilioCalls implements CallControlApi {
  readonly #account: TwilioAccount;
  readonly #context: VendorContext;

  constructor(account: TwilioAccount, context: VendorContext) {
    this.#account = account;
    this.#context = context;
  }

  /** Resolves with the vendor's id of the call when it is queued. */
  async place(call: CallToPlace): Promise<string> {
    const form = new URLSearchParams({
      To: call.to,
      From: call.from,
      Url: call.answerUrl,
      Method: "POST",
      StatusCallback: call.statusUrl,
      StatusCallbackMethod: "POST",
      Timeout: String(call.ringTimeoutSec),
    });
    for (const event of EVENTS) form.append("StatusCallbackEvent", event);
    if (call.detectMachine) {
      // With the second, the verdict on a machine comes at the end of its greeting, and only then.
      form.append("MachineDetection", call.detectMessageEnd ? "DetectMessageEnd" : "Enable");
      form.append("AsyncAmd", "true");
      form.append("AsyncAmdStatusCallback", call.statusUrl);
      form.append("AsyncAmdStatusCallbackMethod", "POST");
    }
    return parseAnswer(
      this.#account.vendor,
      Placed,
      await this.#request("POST", "/Calls.json", form),
    ).sid;
  }

  /** A call that has ended already is a success. `completed` ends a call that rings, too; `canceled` ends no other. */
  async hangUp(callSid: string): Promise<void> {
    await unlessOver(this.#update(callSid, { Status: "completed" }), CODE_ENDED);
  }

  /** As `redirect` at Twilio, but a call that has ended is a refusal. */
  async replaceDocument(callSid: string, twiml: string): Promise<void> {
    await this.#update(callSid, { Twiml: twiml });
  }

  /** The call leaves what it is doing, a media stream for one, for the next step. False if it has ended. */
  redirect(callSid: string, { document, url }: NextStep): Promise<boolean> {
    const isTwilio = this.#account.vendor === "twilio";
    const fields = isTwilio ? { Twiml: document } : { Url: url, Method: "POST" };
    return isLiveAfter(this.#update(callSid, fields), CODE_ENDED);
  }

  async isLive(callSid: string): Promise<boolean> {
    try {
      const answer = await this.#request("GET", `/Calls/${encodeURIComponent(callSid)}.json`);
      return LIVE.has(parseAnswer(this.#account.vendor, CallStatus, answer).status);
    } catch (error) {
      if (isOver(error)) return false;
      throw error;
    }
  }

  async verify(): Promise<void> {
    await this.#request("GET", "");
  }

  /** https://www.twilio.com/docs/phone-numbers/api/incomingphonenumber-resource */
  get numbers(): AccountNumbersApi {
    return {
      list: () => readPages((index) => this.#numbersPage(index)),
      setWebhook: async ({ ref }, url) => {
        // An application of the number would count more than its address.
        const fields = { VoiceUrl: url, VoiceMethod: "POST", VoiceApplicationSid: "" };
        const path = `/IncomingPhoneNumbers/${encodeURIComponent(ref)}.json`;
        await this.#request("POST", path, new URLSearchParams(fields));
      },
    };
  }

  async #numbersPage(index: number): Promise<AccountNumbersPage> {
    const query = new URLSearchParams({ PageSize: String(PAGE_SIZE), Page: String(index) });
    const answer = await this.#request("GET", `/IncomingPhoneNumbers.json?${query.toString()}`);
    const page = parseAnswer(this.#account.vendor, NumbersPage, answer);
    const numbers = page.incoming_phone_numbers.flatMap((each): readonly AccountNumber[] => {
      const number = accountNumber(each.phone_number);
      if (number === undefined) return [];
      const label = each.friendly_name ?? "";
      return [{ number, ref: each.sid, label, webhookUrl: each.voice_url ?? undefined }];
    });
    return { numbers, isLast: (page.next_page_uri ?? "") === "" };
  }

  async #update(callSid: string, fields: Readonly<Record<string, string>>): Promise<void> {
    const path = `/Calls/${encodeURIComponent(callSid)}.json`;
    await this.#request("POST", path, new URLSearchParams(fields));
  }

  /** `path`: below that of the account, which is `.json` itself where there is none. */
  #request(method: "GET" | "POST", path: string, form?: URLSearchParams): Promise<string> {
    const { vendor, accountSid, authToken, baseUrl } = this.#account;
    const account = `/${API_VERSION}/Accounts/${encodeURIComponent(accountSid)}`;
    return telephonyRequest(this.#context, {
      vendor,
      baseUrl,
      method,
      path: path === "" ? `${account}.json` : `${account}${path}`,
      headers: {
        accept: "application/json",
        authorization: basicAuthorization(accountSid, authToken),
        ...(form !== undefined && { "content-type": "application/x-www-form-urlencoded" }),
      },
      ...(form !== undefined && { body: form.toString() }),
      answerMaxBytes: NUMBERS_PAGE_MAX_BYTES,
      // Listed at https://www.twilio.com/docs/api/errors.
      codeOf: (body) => tryParse(Refusal, body)?.value.code ?? undefined,
    });
  }
}
