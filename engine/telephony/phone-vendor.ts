import type { VendorContext } from "../vendors/vendor-settings.js";
import type { AccountForm } from "./account-form.js";
import type { CallControlApi } from "./call-control.js";
import type { CallInfoFields } from "./call-info.js";
import type { CallInstructions } from "./call-instructions.js";
import type { PhoneWire } from "./phone-wire.js";
import type { CallControlSettings, WebhookKeys } from "./telephony-settings.js";
import type { TransferReport } from "./transfer-report.js";
import type { SignatureScheme } from "./webhook-signature.js";

/** Everything that Parley knows of one telephony vendor; each is described in the folder that has its name. */
export interface PhoneVendor {
  /** Absent where calls do not come over WebSockets. */
  newWire?(): PhoneWire;
  readonly documents: CallInstructions;
  /**
   * Whether the caller of a request for what comes after a stream waits for that; where absent, a form's `CallStatus`
   * says so. Others hear of it, too, and are answered with the document that hangs up.
   */
  readonly isCallerWaiting?: (body: string) => boolean;
  /** What a request behind a `dial` document says of the leg; undefined where it says nothing, or nothing final. */
  readonly transferReport?: (body: string) => TransferReport | undefined;
  /**
   * Its documents say where to ask for the next one only where the webhook's address has `continue=yes` or
   * `continue=transfer`, and dial only where it has the latter.
   */
  readonly namesNextOnRequest?: boolean;
  /** The field of the webhook's body that names the call; the stream names it again. */
  readonly callIdField?: string;
  /** Where the webhook says who calls whom. */
  readonly callInfoFields: CallInfoFields;
  /** The stream names its call always: one that does not is none of the vendor's. */
  readonly alwaysNamesCall?: boolean;
  /** The stream names its call only if our document does. */
  readonly passesCallId?: boolean;
  /** The stream's address may have our token in its query, where no message of the vendor's has a place for it. */
  readonly hasTokenInAddress?: boolean;
  /** How the vendor signs its webhooks, and which setting has the key; absent where it does not sign. */
  readonly signature?: SignatureScheme & { keyOf(keys: Partial<WebhookKeys>): string | undefined };
  /** What a report on a placed call says; absent where no calls are placed. */
  readonly placedReport?: (body: string) => PlacedReport;
  /** The settings without which `callControl` gives no API. */
  readonly accountVariables?: readonly string[];
  /** What an organization's own account there consists of; absent where there is none. */
  readonly account?: AccountForm;
  /** The vendor's REST API; undefined when its account is not configured. */
  callControl?(settings: CallControlSettings, context: VendorContext): CallControlApi | undefined;
  readonly capabilities: CallCapabilities;
}

/** What a vendor says of a call that was placed there, in the words that all vendors share. */
export interface PlacedReport {
  /** `completed`, `busy`, `no-answer`, `failed`, `canceled`; anything else while the call is on its way. */
  readonly status: string;
  /** `human`, or a word that begins with `machine`; empty where the vendor does not say. */
  readonly answeredBy: string;
}

/** How each thing that can be done with a call is done at a vendor; `none`: it cannot be done there. */
export interface CallCapabilities {
  readonly place: "rest" | "none";
  /** `report`: only that it is a machine; the others also when its greeting is over, or when it beeps. */
  readonly machineDetection: "report" | "greetingEnd" | "beep" | "none";
  /** `stream`: by the end of the media stream alone. */
  readonly hangUp: "rest" | "stream";
  /** `document`: by what the vendor is answered when it asks what comes after the stream. */
  readonly transfer: "rest" | "document" | "none";
  /** `caller`: the person of a blind transfer can see the caller's own number; otherwise only one of the account's. */
  readonly transferCallerId: "caller" | "account";
  /** A caller whose transfer failed gets the agent back. */
  readonly failedTransfer: "comesBack" | "none";
  /** The caller waits at the vendor, in a conference or with music, until a person has accepted. */
  readonly warmTransfer: "conference" | "none";
  /** The agent's digits: as tones in its audio. */
  readonly sendDigits: "tones";
  readonly receiveDigits: "messages";
  /** The account's numbers are listed, and their webhooks set, by the vendor's API. */
  readonly importNumbers: "rest" | "none";
}
