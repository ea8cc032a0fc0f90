import createClient from "openapi-fetch";
import type { ContractPaths } from "./contract-paths.js";
import { currentToken, signOut } from "./session.js";

/** The server refused, or could not be reached; the message is for people. */
export class ApiFault extends Error {
  override readonly name = "ApiFault";
  /** 0 where no answer came. */
  readonly status: number;
  /** What is wrong with which field of what was sent. */
  readonly details: readonly { readonly path: string; readonly message: string }[];

  constructor(status: number, message: string, details: ApiFault["details"] = []) {
    super(message);
    this.status = status;
    this.details = details;
  }
}

const NO_ANSWER = "The server does not answer. Check that it runs and that you are online.";

/** Typed by the route table. `answered` turns what comes back into the answer or an ApiFault. */
export const api = createClient<ContractPaths>({
  baseUrl: location.origin,
  fetch: (request) => fetchAsUser(request),
});

/** With the token of who is signed in. A token that is not taken any more signs out. Throws an ApiFault where no answer comes. */
export async function fetchAsUser(request: Request): Promise<Response> {
  const token = currentToken();
  if (token !== undefined) request.headers.set("authorization", `Bearer ${token}`);
  let response: Response;
  try {
    response = await fetch(request);
  } catch (error) {
    if (request.signal.aborted) throw error;
    throw new ApiFault(0, NO_ANSWER);
  }
  if (response.status === 401 && token !== undefined && token === currentToken()) signOut();
  return response;
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

export function faultOf(status: number, error: unknown): ApiFault {
  if (isRefusal(error)) {
    const details = (error.details ?? []).map(({ path, message }) => ({
      path,
      message: asSentence(message),
    }));
    return new ApiFault(status, asSentence(error.error), details);
  }
  return new ApiFault(status, `The server answered with ${status}. Try again in a moment.`);
}

interface Refusal {
  readonly error: string;
  readonly details?: ApiFault["details"] | undefined;
}

function isRefusal(value: unknown): value is Refusal {
  return typeof value === "object" && value !== null && "error" in value;
}

function asSentence(text: string): string {
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
