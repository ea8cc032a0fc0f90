import * as v from "valibot";

/** A number that the simulated account has, and where its vendor asks about its calls. */
export interface SimulatedNumber {
  /** E.164. */
  readonly number: string;
  readonly ref: string;
  webhookUrl: string;
  /** The application that the number names, where the vendor has such. */
  applicationId: string;
}

export interface AccountRequest {
  readonly method: string;
  /** With its query. */
  readonly url: URL;
  readonly authorization: string;
  readonly body: string;
}

export type AccountAnswer = readonly [status: number, body: unknown];

type Serve = (request: AccountRequest, account: SimulatedPhoneAccount) => AccountAnswer | undefined;

/** A secret that begins like this is refused, as a wrong one is. */
const WRONG_SECRET = /wrong/;
const VENDOR_PAGE_MAX = 20;

/** One account at one vendor: its numbers and applications, and the part of the API that they are managed with. */
export class SimulatedPhoneAccount {
  readonly numbers: readonly SimulatedNumber[];
  readonly applications = new Map<string, Record<string, unknown>>();
  /** Answers the next request that would change something, which then changes nothing. */
  nextChange: AccountAnswer | undefined;
  readonly #serve: Serve;

  constructor(vendor: keyof typeof APIS, numbers: readonly string[] = ACCOUNT_NUMBERS) {
    this.#serve = APIS[vendor];
    this.numbers = numbers.map((number, index) => ({
      number,
      ref: `PN${String(index).padStart(32, "0")}`,
      webhookUrl: "",
      applicationId: "",
    }));
  }

  /** Undefined for an address that is none of an account's. */
  answerTo(request: AccountRequest): AccountAnswer | undefined {
    const { nextChange } = this;
    if (nextChange === undefined || request.method === "GET") return this.#serve(request, this);
    this.nextChange = undefined;
    return nextChange;
  }

  /** Where the vendor asks about calls to the number. */
  webhookOf(number: string): string {
    const found = this.numbers.find((each) => each.number === number);
    if (found === undefined) return "";
    return textOf(this.applications.get(found.applicationId)?.["url"]) || found.webhookUrl;
  }
}

/** What every simulated account has. */
export const ACCOUNT_NUMBERS = ["+15550102000", "+15550102001"];

const Json = v.record(v.string(), v.unknown());
const plain = (number: string) => number.replace(/^\+/, "");

function jsonOf(body: string): Readonly<Record<string, unknown>> {
  try {
    const parsed = v.safeParse(Json, JSON.parse(body));
    return parsed.success ? parsed.output : {};
  } catch {
    return {};
  }
}

function basicOf(authorization: string): readonly [name: string, password: string] {
  const encoded = /^Basic (\S+)$/.exec(authorization)?.[1] ?? "";
  const [name = "", password = ""] = Buffer.from(encoded, "base64").toString().split(/:(.*)/s);
  return [name, password];
}

const textOf = (value: unknown) => (typeof value === "string" ? value : "");
const isAccepted = (secret: string) => secret !== "" && !WRONG_SECRET.test(secret);

const TWILIO_PATH =
  /^(?:\/api\/laml)?\/2010-04-01\/Accounts\/([\w-]+)(?:\/(IncomingPhoneNumbers)(?:\/(\w+))?)?\.json$/;

/** https://www.twilio.com/docs/phone-numbers/api/incomingphonenumber-resource; SignalWire has the same. */
const twilio: Serve = ({ method, url, authorization, body }, { numbers }) => {
  const [, sid, resource, ref] = TWILIO_PATH.exec(url.pathname) ?? [];
  if (sid === undefined) return undefined;
  const [name, password] = basicOf(authorization);
  if (name !== sid || !isAccepted(password)) return [401, { code: 20_003, status: 401 }];
  if (resource === undefined)
    return method === "GET" ? [200, { sid, status: "active" }] : undefined;
  const viewOf = (each: SimulatedNumber) => ({
    sid: each.ref,
    phone_number: each.number,
    friendly_name: each.number,
    voice_url: each.webhookUrl,
    voice_application_sid: each.applicationId,
  });
  if (ref === undefined && method === "GET") {
    const size = Number(url.searchParams.get("PageSize") ?? 50);
    const index = Number(url.searchParams.get("Page") ?? 0);
    const page = numbers.slice(index * size, (index + 1) * size);
    const hasMore = numbers.length > (index + 1) * size;
    const next_page_uri = hasMore ? `${url.pathname}?Page=${index + 1}` : null;
    return [200, { incoming_phone_numbers: page.map(viewOf), page: index, next_page_uri }];
  }
  const found = numbers.find((each) => each.ref === ref);
  if (found === undefined || method !== "POST") return [404, { code: 20_404, status: 404 }];
  const form = new URLSearchParams(body);
  found.webhookUrl = form.get("VoiceUrl") ?? found.webhookUrl;
  found.applicationId = form.get("VoiceApplicationSid") ?? found.applicationId;
  return [200, viewOf(found)];
};

/** https://developers.telnyx.com/api-reference/phone-number-configurations/list-phone-numbers, and its TeXML applications. */
const telnyx: Serve = ({ method, url, authorization, body }, { numbers, applications }) => {
  const [, resource, ref] =
    /^\/v2\/(phone_numbers|texml_applications)(?:\/([\w-]+))?$/.exec(url.pathname) ?? [];
  if (resource === undefined) return undefined;
  const key = /^Bearer (\S+)$/.exec(authorization)?.[1] ?? "";
  if (!isAccepted(key))
    return [401, { errors: [{ code: "10009", title: "Authentication failed" }] }];
  const notFound: AccountAnswer = [404, { errors: [{ code: "10005", title: "Not found" }] }];
  const viewOf = ({ ref: id, number, applicationId }: SimulatedNumber) => ({
    id,
    phone_number: number,
    status: "active",
    connection_id: applicationId,
    connection_name: textOf(applications.get(applicationId)?.["friendly_name"]),
  });
  if (resource === "texml_applications") {
    if (ref === undefined) return notFound;
    const application = applications.get(ref) ?? { friendly_name: "Calls" };
    const change = jsonOf(body);
    if (method === "PATCH") {
      if (typeof change["friendly_name"] !== "string" || typeof change["voice_url"] !== "string") {
        return [422, { errors: [{ code: "10015", title: "Bad Request" }] }];
      }
      applications.set(ref, { ...application, ...change, url: change["voice_url"] });
    }
    return [200, { data: { id: ref, ...application, ...change } }];
  }
  if (ref === undefined) {
    const size = Number(url.searchParams.get("page[size]") ?? VENDOR_PAGE_MAX);
    const index = Number(url.searchParams.get("page[number]") ?? 1) - 1;
    const data = numbers.slice(index * size, (index + 1) * size).map(viewOf);
    const total_pages = Math.ceil(numbers.length / size);
    return [200, { data, meta: { total_pages, page_number: index + 1, page_size: size } }];
  }
  const found = numbers.find((each) => each.ref === ref);
  if (found === undefined || method !== "PATCH") return notFound;
  found.applicationId = textOf(jsonOf(body)["connection_id"]);
  return [200, { data: viewOf(found) }];
};

const PLIVO_PATH = /^\/v1\/Account\/([\w-]+)\/(?:(Number|Application)\/(?:(\w+)\/)?)?$/;

/** https://www.plivo.com/docs/numbers/api/account-phone-number and https://www.plivo.com/docs/account/api/application */
const plivo: Serve = ({ method, url, authorization, body }, { numbers, applications }) => {
  const [, id, resource, ref] = PLIVO_PATH.exec(url.pathname) ?? [];
  if (id === undefined) return undefined;
  const [name, password] = basicOf(authorization);
  if (name !== id || !isAccepted(password)) return [401, { error: "authentication failed" }];
  if (resource === undefined) return method === "GET" ? [200, { auth_id: id }] : undefined;
  const fields = jsonOf(body);
  const paged = (all: readonly unknown[]): AccountAnswer => {
    const limit = Math.min(VENDOR_PAGE_MAX, Number(url.searchParams.get("limit") ?? 20));
    const offset = Number(url.searchParams.get("offset") ?? 0);
    const hasMore = all.length > offset + limit;
    const next = hasMore ? `${url.pathname}?limit=${limit}&offset=${offset + limit}` : null;
    const meta = { limit, offset, next, total_count: all.length };
    return [200, { meta, objects: all.slice(offset, offset + limit) }];
  };
  if (resource === "Application") {
    if (method === "GET") return paged([...applications.values()]);
    const app_id = String(applications.size + 1).padStart(17, "1");
    if (typeof fields["app_name"] !== "string") return [400, { error: "app_name is required" }];
    applications.set(app_id, { app_id, ...fields, url: fields["answer_url"] });
    return [201, { app_id, message: "created" }];
  }
  if (ref === undefined) {
    return paged(
      numbers.map(({ number, applicationId }) => ({
        number: plain(number),
        alias: null,
        application: applicationId && `/v1/Account/${id}/Application/${applicationId}/`,
        voice_enabled: true,
      })),
    );
  }
  const found = numbers.find(({ number }) => plain(number) === ref);
  const app_id = textOf(fields["app_id"]);
  if (found === undefined || method !== "POST") return [404, { error: "not found" }];
  if (!applications.has(app_id)) return [400, { error: "app_id is not valid" }];
  found.applicationId = app_id;
  return [202, { message: "changed" }];
};

/** https://developer.vonage.com/en/api/numbers and https://developer.vonage.com/en/api/application.v2 */
const vonage: Serve = ({ method, url, authorization, body }, { numbers, applications }) => {
  const application = /^\/v2\/applications\/([\w-]+)$/.exec(url.pathname)?.[1];
  const isCallList = url.pathname === "/v1/calls" && method === "GET";
  const isNumbers = ["/account/numbers", "/number/update"].includes(url.pathname);
  if (isCallList) {
    const isSigned = /^Bearer [\w-]+\.[\w-]+\.[\w-]+$/.test(authorization);
    return isSigned ? [200, { count: 0, _embedded: { calls: [] } }] : [401, {}];
  }
  if (application === undefined && !isNumbers) return undefined;
  const [name, password] = basicOf(authorization);
  if (name === "" || !isAccepted(password)) return [401, { "error-code": "401" }];
  if (application !== undefined) {
    const voice = { webhooks: { event_url: { address: "https://example.com/events" } } };
    const known = applications.get(application) ?? { name: "Calls", capabilities: { voice } };
    if (method === "PUT") {
      const fields = jsonOf(body);
      if (typeof fields["name"] !== "string") return [400, { title: "Bad Request" }];
      const address = v.safeParse(VonageApplication, fields);
      if (!address.success) return [400, { title: "Bad Request" }];
      const { answer_url } = address.output.capabilities.voice.webhooks;
      applications.set(application, { ...fields, url: answer_url.address });
    }
    const { url: _url, ...shown } = applications.get(application) ?? known;
    return [200, { id: application, ...shown, _links: { self: { href: url.pathname } } }];
  }
  if (url.pathname === "/account/numbers") {
    const size = Number(url.searchParams.get("size") ?? 10);
    const index = Number(url.searchParams.get("index") ?? 1) - 1;
    const page = numbers.slice(index * size, (index + 1) * size).map(({ number }) => ({
      country: "US",
      msisdn: plain(number),
      type: "mobile-lvn",
      features: ["VOICE"],
    }));
    return [200, { count: numbers.length, numbers: page }];
  }
  const form = new URLSearchParams(body);
  const found = numbers.find(({ number }) => plain(number) === form.get("msisdn"));
  if (found === undefined || form.get("country") !== "US") {
    return [420, { "error-code": "420", "error-code-label": "Numbers from this country are not" }];
  }
  found.applicationId = form.get("app_id") ?? "";
  return [200, { "error-code": "200", "error-code-label": "success" }];
};

const VonageApplication = v.object({
  capabilities: v.object({
    voice: v.object({
      webhooks: v.object({
        answer_url: v.object({ address: v.string(), http_method: v.literal("POST") }),
        event_url: v.object({ address: v.string() }),
      }),
    }),
  }),
});

/** jambonz-api-server: an account is read with its own key. */
const jambonz: Serve = ({ method, url, authorization }) => {
  const sid = /^\/v1\/Accounts\/([\w-]+)$/.exec(url.pathname)?.[1];
  if (sid === undefined || method !== "GET") return undefined;
  const key = /^Bearer (\S+)$/.exec(authorization)?.[1] ?? "";
  return isAccepted(key) ? [200, { account_sid: sid }] : [401, { msg: "unauthorized" }];
};

/** ARI's `GET /asterisk/info`. */
const asterisk: Serve = ({ method, url, authorization }) => {
  if (url.pathname !== "/ari/asterisk/info" || method !== "GET") return undefined;
  const [name, password] = basicOf(authorization);
  const isKnown = name !== "" && isAccepted(password);
  return isKnown ? [200, { system: { version: "22.1.0" } }] : [401, { message: "Unauthorized" }];
};

const APIS = { twilio, signalwire: twilio, telnyx, plivo, vonage, jambonz, asterisk };
