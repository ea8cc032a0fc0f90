import type { Continuations, PersonClaims } from "../../engine/calls/continuations.js";
import {
  BRIEFING_AUDIO_PATH,
  BRIEFING_PATH,
  BRIEFING_STATUS_PATH,
  QUESTION_PARAMETER,
  type WarmTransfers,
} from "../../engine/calls/warm-transfers.js";
import { RequestError } from "../../engine/request-error.js";
import type { WarmTransferDocuments } from "../../engine/telephony/call-instructions.js";
import type { PhoneVendor } from "../../engine/telephony/phone-vendor.js";
import type { Answer } from "../http/answer/answer.js";
import type { Endpoint, IncomingRequest } from "../http/endpoints/endpoint.js";
import { documentAnswer } from "./phone-document.js";
import { type SignatureOptions, vendorRoute } from "./require-signature.js";
import { httpBase } from "./stream-address.js";

export interface BriefingRoutesOptions extends SignatureOptions {
  readonly continuations: Pick<Continuations, "personClaimsOf">;
  readonly warmTransfers: WarmTransfers;
}

/** The vendor's requests about the person whom a warm transfer calls, each with the person's signed token. */
export function briefingRoutes(options: BriefingRoutesOptions): readonly Endpoint[] {
  return [
    route(BRIEFING_PATH, options, (person) => asked(person, options)),
    route(BRIEFING_STATUS_PATH, options, (person) => reported(person, options)),
    {
      method: "get",
      path: BRIEFING_AUDIO_PATH,
      headerNames: [],
      readsBody: false,
      isQuiet: false,
      answer: (request) => audio(request, options),
    },
  ];
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

function notCalled(): RequestError {
  return new RequestError("invalid_token", "token: expected that of a person who was called");
}
