import * as v from "valibot";
import type { Database } from "../../storage/database.js";
import { type ClaimedJob, knowledgeJob } from "../../storage/jobs/job-record.js";
import { type FixedLimits, FixedLimitsJob, type JobOutcome } from "../jobs/job-runner.js";
import type { Clock } from "../time/clock.js";
import { VendorError } from "../vendors/contracts.js";
import type { Connections } from "../vendors/transport/connections.js";
import { type MethodRequest, requestStream } from "../vendors/transport/http-stream.js";
import { faultOfStatus, refusal } from "../vendors/vendor-fault.js";
import { DOCUMENT_BYTES_MAX, type DocumentReader, type ReadingFault } from "./document-reader.js";
import { type DocumentFormat, isPdf } from "./document-text.js";
import { formatOf, storeContent } from "./knowledge.js";

/** Each organization has its own queue. */
const LIMITS: FixedLimits = {
  runningMax: 2,
  runningPerQueueMax: 1,
  delaysMs: [10_000, 60_000, 10 * 60_000],
};
const HOUR_MS = 60 * 60 * 1_000;
/** From the start of the connection to the last byte. */
const FETCH_MAX_MS = 30_000;
/** Redirects on the same site that are followed, such as to HTTPS, to "www", or to the address with a slash. */
const REDIRECTS_MAX = 5;
const REDIRECT_STATUSES: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const ACCEPT = "text/html, text/markdown, text/plain, application/pdf";
/** The name of a page's server in errors. */
const VENDOR = "page";

const Payload = v.object({ documentId: v.string() });

const FORMATS: ReadonlyMap<string, DocumentFormat> = new Map([
  ["text/html", "html"],
  ["application/xhtml+xml", "html"],
  ["text/markdown", "md"],
  ["text/plain", "txt"],
  ["application/pdf", "pdf"],
]);

const REASONS: Readonly<Record<string, string>> = {
  timeout: `could not be fetched within ${FETCH_MAX_MS / 1_000} s`,
  refused: "leads to an address that may not be reached from here",
  disconnected: "could not be fetched: the connection broke",
  badAnswer: `is too large or not valid HTTP: the limit is ${DOCUMENT_BYTES_MAX / 1024 / 1024} MB`,
};

export interface KnowledgeJobOptions {
  readonly database: Pick<Database, "knowledge">;
  readonly connections: Connections;
  readonly reader: Pick<DocumentReader, "read">;
  readonly clock: Clock;
  readonly newId: () => string;
}

interface FetchedPage {
  readonly bytes: Uint8Array;
  readonly format: DocumentFormat;
  readonly charset: string | undefined;
}

interface PageToFetch {
  readonly orgId: string;
  readonly name: string;
  readonly url: string;
}

interface Redirect {
  readonly location: string;
}

interface FetchFault extends ReadingFault {
  /** Whether another attempt may succeed. */
  readonly isRetryable: boolean;
}

/** Fetches a page and reads it. The next job of a refreshed page is stored in the same transaction as its content. */
export class KnowledgeJob extends FixedLimitsJob {
  readonly #options: KnowledgeJobOptions;

  constructor(options: KnowledgeJobOptions) {
    super(LIMITS);
    this.#options = options;
  }

  override async run(job: ClaimedJob, signal: AbortSignal): Promise<JobOutcome> {
    const { database, reader, clock, newId } = this.#options;
    const { orgId } = job;
    const { documentId } = v.parse(Payload, job.payload);
    const document = await database.knowledge.find(orgId, documentId);
    if (document === undefined || document.url === null) return { kind: "done" };
    const { name, url, refreshHours } = document;
    // An attempt counts when the job is claimed, so this document has ended the process each time and would at each
    // start.
    if (job.attempts > this.triesMax) {
      const error = `"${name}" stopped the server while it was read`;
      await database.knowledge.fail(document, error, clock.epochMs());
      return { kind: "done" };
    }
    const page = await this.#fetch({ orgId, name, url }, signal);
    if ("error" in page && page.isRetryable && job.attempts < this.triesMax) {
      return { kind: "retry", error: "the page could not be fetched" };
    }
    const content = "error" in page ? page : await reader.read({ orgId, name, ...page });
    const nowMs = clock.epochMs();
    const next =
      refreshHours === 0
        ? undefined
        : knowledgeJob(orgId, documentId, nowMs + refreshHours * HOUR_MS, newId());
    await storeContent(database.knowledge, document, content, nowMs, next);
    return { kind: "done" };
  }

  /** Fetches the page, and follows a limited number of redirects on its site. */
  async #fetch(page: PageToFetch, signal: AbortSignal): Promise<FetchedPage | FetchFault> {
    let target = new URL(page.url);
    for (let redirects = 0; redirects <= REDIRECTS_MAX; redirects += 1) {
      const answer = await this.#fetchOnce(page, target, signal);
      if (!("location" in answer)) return answer;
      const next = URL.canParse(answer.location, target.href)
        ? new URL(answer.location, target.href)
        : undefined;
      if (next === undefined || !isSameSite(target, next)) {
        const error = `"${page.name}" redirects to another site: add the page's own address`;
        return { error, isRetryable: false };
      }
      target = next;
    }
    const error = `"${page.name}" redirects more than ${REDIRECTS_MAX} times`;
    return { error, isRetryable: false };
  }

  /** Fetches through the dispatcher that refuses private addresses. */
  async #fetchOnce(
    { orgId, name }: PageToFetch,
    target: URL,
    signal: AbortSignal,
  ): Promise<FetchedPage | FetchFault | Redirect> {
    const { connections, clock } = this.#options;
    const chunks: Buffer[] = [];
    let contentType = "";
    let status = 0;
    let location = "";
    const request: MethodRequest = {
      vendor: VENDOR,
      dispatcher: connections.for(true, orgId),
      clock,
      method: "GET",
      origin: target.origin,
      path: `${target.pathname}${target.search}`,
      headers: { accept: ACCEPT, "user-agent": "Parley" },
      body: undefined,
      limits: {
        firstByteMs: FETCH_MAX_MS,
        betweenBytesMs: FETCH_MAX_MS,
        totalMs: FETCH_MAX_MS,
        replyMaxBytes: DOCUMENT_BYTES_MAX,
      },
      accept: (headers) => {
        const given = headers["content-type"];
        contentType = (Array.isArray(given) ? given[0] : given) ?? "";
      },
      refuse: (refused) => {
        status = refused.status;
        location = [refused.headers["location"]].flat()[0] ?? "";
        const detail = { code: undefined, message: undefined };
        return refusal(VENDOR, faultOfStatus(refused.status), refused, detail, undefined);
      },
    };
    const take = (chunk: Buffer) => {
      chunks.push(chunk);
      return false;
    };
    try {
      await requestStream(request, take, signal);
    } catch (failure) {
      if (signal.aborted) throw failure;
      if (REDIRECT_STATUSES.has(status) && location !== "") return { location };
      if (status !== 0) {
        const isRetryable = status >= 500 || status === 429;
        return { error: `"${name}" was answered with status ${status}`, isRetryable };
      }
      const fault = failure instanceof VendorError ? failure.fault : "unavailable";
      const reason = REASONS[fault] ?? "could not be fetched: no server answers";
      return {
        error: `"${name}" ${reason}`,
        isRetryable: fault !== "refused" && fault !== "badAnswer",
      };
    }
    const type = contentType.split(";", 1)[0]?.trim().toLowerCase() ?? "";
    const bytes = Buffer.concat(chunks);
    // Many servers say text/plain of whatever they do not know.
    const format =
      type === "text/plain" && isPdf(bytes)
        ? "pdf"
        : (FORMATS.get(type) ?? formatOf(target.pathname));
    if (format === undefined) {
      return { error: `"${name}" is neither HTML, Markdown, text nor PDF`, isRetryable: false };
    }
    const charset = /;\s*charset\s*=\s*["']?([^\s"';]+)/i.exec(contentType)?.[1];
    return { bytes, format, charset };
  }
}

/** Whether the next address is of the same host, with or without "www.", and no less safe. */
function isSameSite(from: URL, next: URL): boolean {
  const hostOf = ({ hostname }: URL) => hostname.replace(/^www\./, "");
  const isSafe = next.protocol === "https:" || next.protocol === from.protocol;
  return hostOf(from) === hostOf(next) && isSafe && next.username === "" && next.password === "";
}
