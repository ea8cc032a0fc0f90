import type { JsonObject } from "../records.js";

/**
 * `webhook`: a delivery to an endpoint. `summary`: summary and sentiment of a call that has ended. `analysis`: the analysis of
 * one. `analysisRun`: makes the jobs that analyze past calls of an agent. `knowledge`: fetches and reads a document.
 */
export const JOB_KINDS = ["webhook", "summary", "analysis", "analysisRun", "knowledge"] as const;
export type JobKind = (typeof JOB_KINDS)[number];

export const JOB_STATES = ["queued", "running", "failed"] as const;
export type JobState = (typeof JOB_STATES)[number];

/** A job that is to be stored. */
export interface NewJob {
  /** A second job of the same id is not stored. */
  readonly id: string;
  readonly orgId: string;
  readonly kind: JobKind;
  readonly queue: string;
  readonly payload: JsonObject;
  readonly runAfterMs: number;
  readonly createdAtMs: number;
}

/** Sums up a call that has ended. */
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

/** Analyzes a call that has ended; as part of a run where that is named. */
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

/** Fetches the address of a document and reads it; `at` tells one fetch from the next. */
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

export interface JobRecord extends NewJob {
  readonly lane: string | null;
  readonly state: JobState;
  /** How often it was claimed. */
  readonly attempts: number;
  readonly lastError: string | null;
  readonly failedAtMs: number | null;
}

/** A job that this process has claimed. */
export interface ClaimedJob extends JobRecord {
  readonly fence: number;
}
