import type { Continuations, PersonClaims } from "../../engine/calls/continuations.js";
import {
  BRIEFING_AUDIO_PATH,
  BRIEFING_PATH,
  BRIEFING_STATUS_PATH,
  HOLD_MUSIC_PATH,
  HOLD_PATH,
  PLAYED_PARAMETER,
  QUESTION_PARAMETER,
  type WarmTransfers,
} from "../../engine/calls/warm-transfers.js";
import { RequestError } from "../../engine/request-error.js";
import type { StreamClaims } from "../../engine/security/stream-token.js";
import type { WarmTransferDocuments } from "../../engine/telephony/call-instructions.js";
import type { PhoneVendor } from "../../engine/telephony/phone-vendor.js";
import type { Answer } from "../http/answer/answer.js";
import type { Endpoint, IncomingRequest } from "../http/endpoints/endpoint.js";
import { holdMusic } from "./hold-music.js";
import { documentAnswer } from "./phone-document.js";
import { type SignatureOptions, vendorRoute } from "./require-signature.js";
import { httpBase } from "./stream-address.js";

export interface BriefingRoutesOptions extends SignatureOptions {
  readonly continuations: Pick<Continuations, "personClaimsOf" | "transferClaimsOf">;
  readonly warmTransfers: WarmTransfers;
}

/** The vendor's requests about the two of a warm transfer, each with a signed token: the person who is called, the caller on hold. */
export function briefingRoutes(options: BriefingRoutesOptions): readonly Endpoint[] {
  return [
    route(BRIEFING_PATH, options, (person) => asked(person, options)),
    route(BRIEFING_STATUS_PATH, options, (person) => reported(person, options)),
    holdRoute(options),
    soundRoute(BRIEFING_AUDIO_PATH, (request) => audio(request, options)),
    soundRoute(HOLD_MUSIC_PATH, () =>
      Promise.resolve({ status: 200, contentType: "audio/mpeg", body: holdMusic() }),
    ),
  ];
}

function soundRoute(path: string, answer: Endpoint["answer"]): Endpoint {
  return { method: "get", path, headerNames: [], readsBody: false, isQuiet: false, answer };
}

/** A vendor that takes no document with its order gets the caller's here. */
function holdRoute(options: BriefingRoutesOptions): Endpoint {
  return vendorRoute<StreamClaims>(
    {
      path: HOLD_PATH,
      isQuiet: true,
      claimsOf: (token) => options.continuations.transferClaimsOf(token),
      accountOf: (claims) => claims,
      wrongToken: notOnHold,
      serve: async ({ request, query, claims, vendor }) => {
        if (claims === undefined) throw notOnHold();
        const base = httpBase(request, options.publicBaseUrl);
        const wanted = query.has(PLAYED_PARAMETER) ? "sound" : "next";
        const document = await options.warmTransfers.hold(claims, base, wanted);
        if (document === undefined) throw notOnHold();
        return documentAnswer(vendor.documents, document);
      },
    },
    options,
  );
}

interface PersonRequest {
  readonly person: PersonClaims;
  readonly vendor: PhoneVendor;
  readonly documents: WarmTransferDocuments;
  readonly base: string;
  readonly query: URLSearchParams;
  readonly body: string;
}

function route(
  path: string,
  options: BriefingRoutesOptions,
  serve: (person: PersonRequest) => Promise<Answer>,
): Endpoint {
  return vendorRoute<PersonClaims>(
    {
      path,
      claimsOf: (token) => options.continuations.personClaimsOf(token),
      accountOf: ({ claims }) => claims,
      wrongToken: notCalled,
      serve: async ({ request, query, claims: person, vendor, body }) => {
        const documents = vendor.documents.warmTransfer;
        if (person === undefined || documents === undefined) throw notCalled();
        const base = httpBase(request, options.publicBaseUrl);
        return serve({ person, vendor, documents, base, query, body });
      },
    },
    options,
  );
}

/** The person has answered the telephone, or the question. */
async function asked(
  { person, vendor, documents, base, query, body }: PersonRequest,
  { warmTransfers }: BriefingRoutesOptions,
): Promise<Answer> {
  const count = Number(query.get("asked") ?? 0);
  const answer = { ...documents.answer(body), asked: count };
  const document =
    count === 0
      ? await warmTransfers.answered(person, base)
      : await warmTransfers.decided(person, answer, base);
  return documentAnswer(vendor.documents, document ?? vendor.documents.hangUp());
}

async function reported(
  { person, vendor, documents, base, body }: PersonRequest,
  { warmTransfers }: BriefingRoutesOptions,
): Promise<Answer> {
  const report = vendor.placedReport?.(body);
  if (report === undefined) throw notCalled();
  await warmTransfers.reported(person, report, documents.personReport(body), base);
  return { status: 204, contentType: "", body: "" };
}

/** Vendors do not sign what they fetch to play: the token is the proof. */
async function audio(
  request: IncomingRequest,
  { continuations, warmTransfers }: BriefingRoutesOptions,
): Promise<Answer> {
  const query = new URLSearchParams(request.queryString);
  const person = continuations.personClaimsOf(query.get("token") ?? "");
  const body = person && (await warmTransfers.audio(person, query.has(QUESTION_PARAMETER)));
  if (body === undefined) throw new RequestError("not_found", "there is nothing to play");
  return { status: 200, contentType: "audio/wav", body };
}

function notOnHold(): RequestError {
  return new RequestError("invalid_token", "token: expected that of a caller on hold");
}

function notCalled(): RequestError {
  return new RequestError("invalid_token", "token: expected that of a person who was called");
}
