import * as v from "valibot";
import { parseAnswer, tryParse } from "../../vendors/vendor-json.js";
import type { VendorContext } from "../../vendors/vendor-settings.js";
import { basicAuthorization, telephonyRequest, unlessOver } from "../telephony-request.js";
import type { TelephonySettings } from "../telephony-settings.js";

const VENDOR = "twilio";
const API_VERSION = "2010-04-01";
const CALL_SID = /^CA[0-9a-f]{32}$/i;
const EVENTS = ["initiated", "ringing", "answered", "completed"];

const Placed = v.object({ sid: v.pipe(v.string(), v.regex(CALL_SID)) });
const Refusal = v.object({ code: v.optional(v.nullable(v.number())) });

export interface TwilioAccount {
  readonly accountSid: string;
  readonly authToken: string;
  readonly baseUrl: string;
}

export interface CallToPlace {
  /** E.164. */
  readonly to: string;
  /** E.164, a number of the account. */
  readonly from: string;
  /** Asked what to do when somebody answers. */
  readonly answerUrl: string;
  readonly statusUrl: string;
  /** Told to `statusUrl` while the call already goes on. */
  readonly detectMachine: boolean;
  readonly ringTimeoutSec: number;
}

/** Twilio's REST API of calls (https://www.twilio.com/docs/voice/api/call-resource). Rejects with a VendorError. */
export class TwilioCalls {
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
      form.append("MachineDetection", "Enable");
      form.append("AsyncAmd", "true");
      form.append("AsyncAmdStatusCallback", call.statusUrl);
      form.append("AsyncAmdStatusCallbackMethod", "POST");
    }
    return parseAnswer(VENDOR, Placed, await this.#post("Calls.json", form)).sid;
  }

  /** `ringing`: nobody has answered yet. A call that has ended already is a success. */
  async hangUp(callSid: string, state: "ringing" | "answered" = "answered"): Promise<void> {
    const status = state === "ringing" ? "canceled" : "completed";
    await unlessOver(this.#update(callSid, { Status: status }));
  }

  /** The call leaves what it is doing, a media stream for one, for the document. */
  async redirect(callSid: string, twiml: string): Promise<void> {
    await this.#update(callSid, { Twiml: twiml });
  }

  async #update(callSid: string, fields: Readonly<Record<string, string>>): Promise<void> {
    const path = `Calls/${encodeURIComponent(callSid)}.json`;
    await this.#post(path, new URLSearchParams(fields));
  }

  #post(path: string, form: URLSearchParams): Promise<string> {
    const { accountSid, authToken, baseUrl } = this.#account;
    return telephonyRequest(this.#context, {
      vendor: VENDOR,
      baseUrl,
      method: "POST",
      path: `/${API_VERSION}/Accounts/${encodeURIComponent(accountSid)}/${path}`,
      headers: {
        accept: "application/json",
        authorization: basicAuthorization(accountSid, authToken),
        "content-type": "application/x-www-form-urlencoded",
      },
      body: form.toString(),
      // Listed at https://www.twilio.com/docs/api/errors.
      codeOf: (body) => tryParse(Refusal, body)?.value.code ?? undefined,
    });
  }
}

/** Undefined without the account. */
export function twilioCalls(
  { twilio }: Pick<TelephonySettings, "twilio">,
  context: VendorContext,
): TwilioCalls | undefined {
  const { accountSid, authToken, baseUrl } = twilio;
  if (accountSid === undefined || authToken === undefined) return undefined;
  return new TwilioCalls({ accountSid, authToken, baseUrl }, context);
}
