import createClient from "openapi-fetch";
import { answerMissed, markOnline } from "./connection.js";
import type { ContractPaths } from "./contract-paths.js";
import { SERVER_URL } from "./server-address.js";
import { currentToken, isSessionOver, sessionRefused } from "./session.js";

/** The server refused, or could not be reached; the message is for people. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  /** 0 where no answer came. */
  readonly status: number;
  /** The errors by field. */
  readonly details: readonly { readonly path: string; readonly message: string }[];

  constructor(status: number, message: string, details: ApiError["details"] = []) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

/** Nothing was asked of the server, or it refused to answer, because the person has to sign in again. */
export class SessionOverError extends ApiError {
  constructor() {
    super(401, "Your session has expired. Sign in again: what you typed is kept.");
  }
}

/** The error of this field; undefined if there is none. */
export function wordsOfFault(error: unknown, path: string): string | undefined {
  if (!(error instanceof ApiError)) return undefined;
  return error.details.find((detail) => detail.path === path)?.message;
}

const NO_ANSWER = "The server does not respond. Check that it is running and that you are online.";

/** Typed by the route table. `answered` turns what comes back into the answer or an ApiError. */
export const api = createClient<ContractPaths>({
  baseUrl: SERVER_URL,
  fetch: (request) => fetchAsUser(request),
});

/**
 * Sends the signed-in user's token. A rejected token ends the session, and no requests are sent until the next one.
 * Throws an ApiError when there is no response.
 */
export async function fetchAsUser(request: Request): Promise<Response> {
  if (isSessionOver()) throw new SessionOverError();
  const token = currentToken();
  if (token !== undefined) request.headers.set("authorization", `Bearer ${token}`);
  const response = await fetchAsAnybody(request);
  if (response.status === 401 && token !== undefined) {
    sessionRefused(token);
    if (isSessionOver()) throw new SessionOverError();
  }
  return response;
}

/** As `fetchAsUser`, for what needs nobody to be signed in. */
export async function fetchAsAnybody(request: Request): Promise<Response> {
  try {
    const response = await fetch(request);
    markOnline();
    return response;
  } catch (error) {
    if (request.signal.aborted) throw error;
    answerMissed();
    throw new ApiError(0, NO_ANSWER);
  }
}

interface Fetched<Data> {
  readonly data?: Data | undefined;
  readonly error?: unknown;
  readonly response: Response;
}

export async function answered<Data>(fetching: Promise<Fetched<Data>>): Promise<Data> {
  const { data, error, response } = await fetching;
  if (data !== undefined) return data;
  throw faultOf(response.status, error);
}

export function faultOf(status: number, error: unknown): ApiError {
  if (isRefusal(error)) {
    const details = (error.details ?? []).map(({ path, message }) => ({
      path,
      message: asSentence(message),
    }));
    return new ApiError(status, asSentence(refusalWords(error)), details);
  }
  return new ApiError(status, `The server answered with ${status}. Try again in a moment.`);
}

interface Refusal {
  readonly error: string;
  readonly details?: ApiError["details"] | undefined;
  /** Those because of which it was refused. */
  readonly agents?: readonly { readonly name: string }[] | undefined;
}

/** The first agents of a long list are named. */
const AGENTS_NAMED_MAX = 5;

function refusalWords({ error, agents = [] }: Refusal): string {
  if (agents.length === 0) return error;
  const names = agents.slice(0, AGENTS_NAMED_MAX).map(({ name }) => name);
  const more = agents.length - names.length;
  return `${error}: ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function isRefusal(value: unknown): value is Refusal {
  return typeof value === "object" && value !== null && "error" in value;
}

function asSentence(text: string): string {
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
