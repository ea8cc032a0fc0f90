import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { SIGNERS } from "../../bench/attack/clients/webhook-signers.js";
import { VendorCall } from "./phone-vendor-call.js";
import {
  type CallState,
  type DialOutcome,
  type DialStep,
  type DocumentStep,
  VENDOR_DOCUMENTS,
  type VendorDocuments,
} from "./phone-vendor-documents.js";
import type { VendorStream } from "./phone-vendor-streams.js";

interface CallId {
  readonly usual: string;
  readonly own: string;
}

/**
 * A caller at a vendor that follows documents. It signs its requests, and requests the next document where one says so.
 */
export class VendorCaller {
  readonly #stream: VendorStream;
  readonly #documents: VendorDocuments;
  /** The number differs for each call, so that no two signatures are equal. */
  readonly #from = `1555${randomInt(1e6, 1e7)}`;
  #step: DocumentStep | undefined;

  readonly #configuredUrl: string;

  readonly #callId: CallId | undefined;

  /**
   * `configuredUrl`: the address of streams for which no document contains one. `callId`: replaces the one that all calls of the
   * vendor have here.
   */
  constructor(stream: VendorStream, configuredUrl: string, callId?: CallId) {
    this.#callId = callId;
    const documents = VENDOR_DOCUMENTS[stream.vendor];
    assert.ok(documents, stream.vendor);
    this.#stream = stream;
    this.#configuredUrl = configuredUrl;
    this.#documents = documents;
  }

  /** Opens the stream of the webhook's document. */
  async ring(webhookUrl: string): Promise<VendorCall> {
    const call = await this.#ask(webhookUrl, "ringing");
    assert.ok(call, "the call is accepted");
    return call;
  }

  /** The webhook is answered with a document, whose stream the vendor has not opened yet. */
  async announce(webhookUrl: string): Promise<void> {
    const body = this.#documents.bodyOf("ringing", this.#from);
    assert.ok(body !== undefined);
    this.#step = this.#documents.read(await this.#post(webhookUrl, body));
    assert.ok(this.#step, "the call is accepted");
  }

  /** Opens the stream that follows the ended one; undefined if the vendor hangs up. */
  async goOn(state: CallState = "streamEnded"): Promise<VendorCall | undefined> {
    return this.#step?.next === undefined ? undefined : this.#ask(this.#step.next, state);
  }

  /** The vendor's REST API has taken the call out of its stream; what the vendor then gets for what follows the stream. */
  async interrupted(): Promise<string> {
    const body = this.#documents.bodyOf("streamEnded", this.#from);
    assert.ok(this.#step?.next !== undefined && body !== undefined);
    return this.#post(this.#step.next, body);
  }

  /** The stream has ended, and the next document transfers the caller. */
  async handedOn(): Promise<DialStep> {
    const body = this.#documents.bodyOf("streamEnded", this.#from);
    assert.ok(this.#step?.next !== undefined && body !== undefined);
    const dial = this.#documents.readDial?.(await this.#post(this.#step.next, body));
    assert.ok(dial, "the caller is transferred");
    return dial;
  }

  /** The leg of a document that the vendor got over REST. */
  orderedDial(document: string): DialStep {
    const dial = this.#documents.readDial?.(document);
    assert.ok(dial, document);
    return dial;
  }

  /** Opens the stream of the caller who returns; undefined if the vendor hangs up. */
  async dialed({ next }: DialStep, outcome: DialOutcome): Promise<VendorCall | undefined> {
    const bodies = [...(this.#documents.dialBodies?.(outcome, this.#from) ?? [])];
    const last = bodies.pop();
    assert.ok(last !== undefined);
    for (const body of bodies) assert.equal(await this.#post(next, body), "", body);
    return this.#follow(await this.#post(next, last));
  }

  async #ask(url: string, state: CallState): Promise<VendorCall | undefined> {
    const body = this.#documents.bodyOf(state, this.#from);
    return body === undefined ? undefined : this.#follow(await this.#post(url, body));
  }

  /** With the call's own id in place of the usual one. */
  #withOwnId(text: string): string {
    const { usual = "", own = "" } = this.#callId ?? {};
    if (usual === "") return text;
    return text
      .replaceAll(`"${usual}"`, `"${own}"`)
      .replaceAll(`=${encodeURIComponent(usual)}&`, `=${encodeURIComponent(own)}&`);
  }

  async #post(url: string, usualBody: string): Promise<string> {
    const { vendor } = this.#stream;
    const body = this.#withOwnId(usualBody);
    const type = body.startsWith("{") ? "application/json" : "application/x-www-form-urlencoded";
    const headers = { "content-type": type, ...SIGNERS[vendor]?.sign(url, body) };
    const response = await fetch(url, { method: "POST", headers, body });
    const document = await response.text();
    assert.ok(response.ok, `${response.status} ${document}`);
    return document;
  }

  /** The number that the call comes from, as vendors write it without the plus. */
  get from(): string {
    return this.#from;
  }

  /** Opens the stream of a document that the vendor got otherwise; undefined if the vendor hangs up. */
  async follow(document: string): Promise<VendorCall | undefined> {
    return this.#follow(document);
  }

  async #follow(document: string): Promise<VendorCall | undefined> {
    const { start } = this.#stream;
    const { usual = "", own = "" } = this.#callId ?? {};
    this.#step = this.#documents.read(
      own === "" ? document : document.replaceAll(`"${own}"`, `"${usual}"`),
    );
    if (this.#step === undefined) return undefined;
    const call = await VendorCall.connect(this.#step.url ?? this.#configuredUrl, this.#stream);
    call.begin(this.#withOwnId(start(this.#step.parameters["token"] ?? "")));
    return call;
  }
}
