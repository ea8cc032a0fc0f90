import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { SIGNERS } from "../../bench/attack/clients/webhook-signers.js";
import { VendorCall } from "./phone-vendor-call.js";
import {
  type CallState,
  type DocumentStep,
  VENDOR_DOCUMENTS,
  type VendorDocuments,
} from "./phone-vendor-documents.js";
import type { VendorStream } from "./phone-vendor-streams.js";

/** A caller at a vendor that follows documents: it signs what it asks, and asks on where a document has it do so. */
export class VendorCaller {
  readonly #stream: VendorStream;
  readonly #documents: VendorDocuments;
  /** No two calls are signed alike. */
  readonly #from = `1555${randomInt(1e6, 1e7)}`;
  #step: DocumentStep | undefined;

  readonly #configuredUrl: string;

  /** `configuredUrl`: where streams go of which no document says it. */
  constructor(stream: VendorStream, configuredUrl: string) {
    const documents = VENDOR_DOCUMENTS[stream.vendor];
    assert.ok(documents, stream.vendor);
    this.#stream = stream;
    this.#configuredUrl = configuredUrl;
    this.#documents = documents;
  }

  /** The stream that the webhook's document opens. */
  async ring(webhookUrl: string): Promise<VendorCall> {
    const call = await this.#ask(webhookUrl, "ringing");
    assert.ok(call, "the call is taken");
    return call;
  }

  /** The stream that comes after the one that has ended; undefined when the vendor hangs up. */
  async goOn(state: CallState = "streamEnded"): Promise<VendorCall | undefined> {
    return this.#step?.next === undefined ? undefined : this.#ask(this.#step.next, state);
  }

  async #ask(url: string, state: CallState): Promise<VendorCall | undefined> {
    const { vendor, start } = this.#stream;
    const body = this.#documents.bodyOf(state, this.#from);
    if (body === undefined) return undefined;
    const type = body.startsWith("{") ? "application/json" : "application/x-www-form-urlencoded";
    const headers = { "content-type": type, ...SIGNERS[vendor]?.sign(url, body) };
    const response = await fetch(url, { method: "POST", headers, body });
    const document = await response.text();
    assert.ok(response.ok, `${response.status} ${document}`);
    this.#step = this.#documents.read(document);
    if (this.#step === undefined) return undefined;
    const call = await VendorCall.connect(this.#step.url ?? this.#configuredUrl, this.#stream);
    call.send(start(this.#step.parameters["token"] ?? ""));
    return call;
  }
}
