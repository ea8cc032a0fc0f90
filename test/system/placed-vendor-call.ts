import assert from "node:assert/strict";
import { SIGNERS } from "../../bench/attack/clients/webhook-signers.js";
import type { SimulatedCall } from "../../engine/sandbox/telephone/phone-api-simulator.js";
import { eventually } from "./eventually.js";
import { VendorCall } from "./phone-vendor-call.js";
import {
  type CallState,
  type DialOutcome,
  type DialStep,
  type DocumentStep,
  VENDOR_DOCUMENTS,
  type VendorDocuments,
} from "./phone-vendor-documents.js";
import { VENDOR_STREAMS, type VendorStream } from "./phone-vendor-streams.js";
import type { PlacingVendorName } from "./placing-vendors.js";

/** One stream of each vendor. */
export const PLACED_STREAMS: Readonly<Record<PlacingVendorName, string>> = {
  twilio: "Twilio in µ-law",
  signalwire: "SignalWire in 16-bit samples",
  telnyx: "Telnyx in A-law",
  plivo: "Plivo in µ-law",
  vonage: "Vonage in 16-bit samples",
  jambonz: "Jambonz in 16-bit samples",
  asterisk: "Asterisk in A-law",
};

/** A person whom the server has called at a vendor, which follows the server's documents. */
export class PlacedVendorCall {
  readonly call: SimulatedCall;
  readonly #vendor: PlacingVendorName;
  readonly #stream: VendorStream;
  readonly #documents: VendorDocuments;
  readonly #configuredUrl: string;
  #step: DocumentStep | undefined;

  /** `configuredUrl`: the address of streams for which no document contains one. */
  constructor(vendor: PlacingVendorName, call: SimulatedCall, configuredUrl: string) {
    const stream = VENDOR_STREAMS[PLACED_STREAMS[vendor]];
    const documents = VENDOR_DOCUMENTS[vendor];
    assert.ok(stream && documents, vendor);
    this.#vendor = vendor;
    this.call = call;
    this.#stream = stream;
    this.#documents = documents;
    this.#configuredUrl = configuredUrl;
  }

  /** Opens the stream of the answer, with the call's own id in it. */
  async pickUp(stream = this.#stream): Promise<VendorCall> {
    const document = await eventually("the answer", () => this.call.document);
    const phone = await this.#follow(document, stream);
    assert.ok(phone, document);
    return phone;
  }

  /** The document of the vendor's request when the stream has ended. */
  next(state: CallState = "streamEnded"): Promise<string> {
    const body = this.#documents.bodyOf(state, this.call.to.slice(1));
    assert.ok(this.#step?.next !== undefined && body !== undefined);
    return this.#post(this.#step.next, body);
  }

  /** Opens the stream that follows the ended one; undefined if the vendor hangs up. */
  async goOn(): Promise<VendorCall | undefined> {
    return this.#follow(await this.next());
  }

  /** The leg that the server has the vendor dial: over REST, or by the document after the stream. */
  async handedOn(): Promise<DialStep> {
    const isOverRest = this.#vendor === "twilio" || this.#vendor === "vonage";
    const document = isOverRest
      ? await eventually("the transfer", () => this.call.transferredTo[0])
      : await this.next();
    const dial = this.#documents.readDial?.(document);
    assert.ok(dial, document);
    return dial;
  }

  /** Reports the end of the leg, and opens the stream of the person who returns; undefined if the vendor hangs up. */
  async dialed({ next }: DialStep, outcome: DialOutcome): Promise<VendorCall | undefined> {
    const bodies = this.#documents.dialBodies?.(outcome, this.call.to.slice(1)) ?? [];
    let document = "";
    for (const body of bodies) document = await this.#post(next, body);
    return this.#follow(document);
  }

  async #post(url: string, body: string): Promise<string> {
    const response = await signedPost(this.#vendor, url, body);
    const document = await response.text();
    assert.ok(response.ok, `${response.status} ${document}`);
    return document;
  }

  async #follow(document: string, stream = this.#stream): Promise<VendorCall | undefined> {
    const { id } = this.call;
    // Vonage's document names the call, which is another one in the reader's examples.
    this.#step = this.#documents.read(document.replaceAll(id, "u1"));
    if (this.#step === undefined) return undefined;
    const { url, parameters } = this.#step;
    const phone = await VendorCall.connect(url ?? this.#configuredUrl, stream);
    phone.begin(withIds(stream.start(parameters["token"] ?? ""), id, parameters["call"]));
    return phone;
  }
}

/** As the vendor sends a request: signed, where it signs. */
export function signedPost(vendor: string, url: string, body: string): Promise<Response> {
  const type = body.startsWith("{") ? "application/json" : "application/x-www-form-urlencoded";
  const headers = { "content-type": type, ...SIGNERS[vendor]?.sign(url, body) };
  return fetch(url, { method: "POST", headers, body });
}

/** The example's start message, whose call has another id and no parameter but the token. */
function withIds(start: string, id: string, placedCall: string | undefined): string {
  const own = start
    .replaceAll('"CA1"', `"${id}"`)
    .replaceAll('"v3:ex"', `"${id}"`)
    .replaceAll('"c1"', `"${id}"`)
    .replaceAll('"u1"', `"${id}"`);
  if (placedCall === undefined) return own;
  return own
    .replace(/X-PH-token: (\w+)/, `X-PH-token: $1, X-PH-call: ${placedCall}`)
    .replace(/"token":"(\w+)"/, `"token":"$1","call":"${placedCall}"`);
}
