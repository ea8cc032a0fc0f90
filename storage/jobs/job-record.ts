import type { JsonObject } from "../records.js";

/**
 * `webhook`: a delivery to an endpoint. `summary`: summary and sentiment of an ended call. `analysis`: the analysis of
 * an ended call. `analysisRun`: creates the jobs that analyze an agent's past calls. `placedCall`: records a placed
 * call as failed if its process died before the call had a record. `knowledge`: fetches and reads a document.
 * `warmTransfer`: brings a caller back to the agent if a warm transfer left the caller on hold. `callList`: places the
 * calls of a list. `embedding`: embeds the passages of an organization's documents.
 */
export const JOB_KINDS = [
  "webhook",
  "summary",
  "analysis",
  "analysisRun",
  "placedCall",
  "knowledge",
  "warmTransfer",
  "callList",
  "embedding",
] as const;
export type JobKind = (typeof JOB_KINDS)[number];

export const JOB_STATES = ["queued", "running", "failed"] as const;
export type JobState = (typeof JOB_STATES)[number];

/** A job to be stored. */
export interface NewJob {
  /** A second job with the same id is not stored. */
  readonly id: string;
  readonly orgId: string;
  readonly kind: JobKind;
  readonly queue: string;
  readonly payload: JsonObject;
  readonly runAfterMs: number;
  readonly createdAtMs: number;
}

/** The job that summarizes an ended call. */
export function summaryJob(orgId: string, callId: string, atMs: number): NewJob {
  return {
    id: `summary_${callId}`,
    orgId,
    kind: "summary",
    queue: `summary:${orgId}`,
    payload: { callId },
    runAfterMs: atMs,
    createdAtMs: atMs,
  };
}

/** The job that analyzes an ended call, as part of the run if `runId` is given. */
export function analysisJob(orgId: string, callId: string, atMs: number, runId?: string): NewJob {
  return {
    id: runId === undefined ? `analysis_${callId}` : `analysis_${runId}_${callId}`,
    orgId,
    kind: "analysis",
    queue: `analysis:${orgId}`,
    payload: { callId, ...(runId !== undefined && { runId }) },
    runAfterMs: atMs,
    createdAtMs: atMs,
  };
}

export function analysisRunJob(orgId: string, runId: string, atMs: number): NewJob {
  return {
    id: `analysisRun_${runId}`,
    orgId,
    kind: "analysisRun",
    queue: `analysisRun:${orgId}`,
    payload: { runId },
    runAfterMs: atMs,
    createdAtMs: atMs,
  };
}

/** By then, a process that is still alive has stored the outcome of the call that it placed. */
export const PLACED_CALL_MAX_MS = 6 * 60 * 1_000;

export function placedCallJobId(callId: string): string {
  return `placedCall_${callId}`;
}

/** The queue of the calls that one run of the server places. */
export function placedCallQueue(runId: string): string {
  return `placedCall:${runId}`;
}

/** The job that records the call as failed unless the call has a record by then. Storing the record removes the job. */
export function placedCallJob(
  {
    orgId,
    callId,
    runId,
  }: { readonly orgId: string; readonly callId: string; readonly runId: string },
  payload: JsonObject,
  atMs: number,
): NewJob {
  return {
    id: placedCallJobId(callId),
    orgId,
    kind: "placedCall",
    queue: placedCallQueue(runId),
    payload,
    runAfterMs: atMs + PLACED_CALL_MAX_MS,
    createdAtMs: atMs,
  };
}

/** The job that fetches and reads a document; `at` distinguishes this fetch from others. */
export function knowledgeJob(orgId: string, documentId: string, atMs: number, at: string): NewJob {
  return {
    id: `knowledge_${documentId}_${at}`,
    orgId,
    kind: "knowledge",
    queue: `knowledge:${orgId}`,
    payload: { documentId },
    runAfterMs: atMs,
    createdAtMs: atMs,
  };
}

/** The job that embeds the passages without a vector, and removes the vectors of earlier models. */
export function embeddingJob(orgId: string, atMs: number, at: string): NewJob {
  return {
    id: `embedding_${orgId}_${at}`,
    orgId,
    kind: "embedding",
    queue: `embedding:${orgId}`,
    payload: {},
    runAfterMs: atMs,
    createdAtMs: atMs,
  };
}

/**
 * The person has answered the question by then, or the caller is back, where their server lives: 30 s of ringing, some 45 s of
 * greeting and summary, and three questions of some 15 s each with their answers.
 */
export const WARM_TRANSFER_MAX_MS = 3 * 60 * 1_000;
/** When the vendor's answer to putting the caller on hold was lost, the caller may hear music, and no one is called. */
export const LOST_HOLD_CHECK_MS = 5_000;

/** `afterMs`: distinguishes the jobs of one transfer. */
export function warmTransferJob(
  orgId: string,
  callId: string,
  payload: JsonObject,
  atMs: number,
  afterMs = WARM_TRANSFER_MAX_MS,
): NewJob {
  return {
    id: `warmTransfer_${callId}_${atMs}_${afterMs}`,
    orgId,
    kind: "warmTransfer",
    queue: `warmTransfer:${orgId}`,
    payload,
    runAfterMs: atMs + afterMs,
    createdAtMs: atMs,
  };
}

/** The queue of the one job that a list has from its start to its end. */
export function callListQueue(listId: string): string {
  return `callList:${listId}`;
}

export function callListJobId(listId: string): string {
  return `callList_${listId}`;
}

export function callListJob(orgId: string, listId: string, atMs: number): NewJob {
  return {
    id: callListJobId(listId),
    orgId,
    kind: "callList",
    queue: callListQueue(listId),
    payload: { listId },
    runAfterMs: atMs,
    createdAtMs: atMs,
  };
}

export interface JobRecord extends NewJob {
  readonly lane: string | null;
  readonly state: JobState;
  /** The number of claims that count as attempts. */
  readonly attempts: number;
  readonly lastError: string | null;
  readonly failedAtMs: number | null;
}

/** A job claimed by this process. */
export interface ClaimedJob extends JobRecord {
  readonly fence: number;
}
