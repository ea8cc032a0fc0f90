import * as v from "valibot";
import type { JsonObject } from "../../storage/records.js";
import type { Clock } from "../time/clock.js";
import { VendorError } from "./contracts.js";
import type { LearnedParameters, ProviderVersion } from "./learned-parameters.js";
import { HTTP_PROTOCOLS } from "./setting-fields.js";
import type { Connections } from "./transport/connections.js";

/** A stored provider's settings for one vendor, with its credentials decrypted. */
export interface VendorSettings {
  /** Overrides `settings.baseUrl`; without both the vendor's public address is used. */
  readonly baseUrl: string | undefined;
  readonly apiKey: string | undefined;
  readonly settings: JsonObject;
  /** Owned by an organization, not by the platform: it may not use private addresses. */
  readonly clientOwned: boolean;
  /** The organization of the call; its share of connections is used. */
  readonly orgId?: string;
  /** The stored provider; undefined if there is none, as in a client's test. */
  readonly provider?: ProviderVersion;
}

/** Shared by all clients of the process. */
export interface VendorContext {
  readonly clock: Clock;
  readonly connections: Connections;
  /** The corrections that the process has learned; a client without it learns for itself. */
  readonly learned?: LearnedParameters;
  /** Whose own addresses are asked, which lead to no private network; left out: the installation's. */
  readonly orgId?: string;
}

/** A vendor's address, split as requests need it. */
export interface Endpoint {
  readonly origin: string;
  /** Without a trailing slash; empty for the root. */
  readonly path: string;
}

const baseUrlField = { baseUrl: v.optional(v.string()) };

/**
 * Reads the fields that a client knows and ignores the rest; an invalid one is a `refused` VendorError that names
 * it.
 */
export function parseSettings<Entries extends v.ObjectEntries>(
  vendor: string,
  entries: Entries,
  given: VendorSettings,
): v.InferOutput<v.ObjectSchema<Entries, undefined>> {
  const parsed = v.safeParse(v.object(entries), given.settings);
  if (parsed.success) return parsed.output;
  const issue = parsed.issues[0];
  const field = v.getDotPath(issue) ?? "settings";
  throw new VendorError(vendor, "refused", `${vendor}: setting ${field}: ${issue.message}`);
}

/** @throws VendorError `refused` if the address does not use one of the given protocols. */
export function endpointOf(
  vendor: string,
  given: VendorSettings,
  publicUrl: string,
  protocols: readonly string[] = HTTP_PROTOCOLS,
): Endpoint {
  const configured = given.baseUrl ?? parseSettings(vendor, baseUrlField, given).baseUrl;
  const url = parseUrl(configured === undefined || configured === "" ? publicUrl : configured);
  if (url === undefined || !protocols.includes(url.protocol)) {
    const allowed = protocols.map((protocol) => `${protocol}//`).join(" or ");
    throw new VendorError(vendor, "refused", `${vendor}: the base URL must begin with ${allowed}`);
  }
  const path = url.pathname;
  let end = path.length;
  while (path[end - 1] === "/") end--;
  return { origin: url.origin, path: path.slice(0, end) };
}

/** @throws VendorError `unauthorized` without a key, since the vendor would only refuse the request later. */
export function requireApiKey(vendor: string, given: VendorSettings): string {
  if (given.apiKey === undefined || given.apiKey === "") {
    throw new VendorError(vendor, "unauthorized", `${vendor}: no API key is configured`);
  }
  return given.apiKey;
}

/** The header with the key; empty for a server without one. */
export function bearer(apiKey: string | undefined): Readonly<Record<string, string>> {
  return apiKey === undefined || apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` };
}

function parseUrl(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined;
}
