import * as v from "valibot";
import type { CallStore } from "../../../storage/calls/call-store.js";
import type { ClaimedJob } from "../../../storage/jobs/job-record.js";
import { type FixedLimits, FixedLimitsJob, type JobOutcome } from "../../jobs/job-runner.js";
import type { Logger } from "../../log.js";
import { StoredCallInfo } from "../../telephony/call-info.js";
import { newCall } from "../call-journal.js";

/** Only an unreachable database makes this job fail, and that passes. */
const TRIES_MAX = 100;
const RETRY_AFTER_MS = 10_000;
const LIMITS: FixedLimits = {
  runningMax: 4,
  runningPerQueueMax: 4,
  delaysMs: Array.from({ length: TRIES_MAX - 1 }, () => RETRY_AFTER_MS),
};

const Payload = v.object({
  callId: v.string(),
  agentId: v.string(),
  historyKey: v.string(),
  callInfo: StoredCallInfo,
});

export interface PlacedCallJobOptions {
  readonly calls: Pick<CallStore, "closePlaced">;
  /** Identifies this run of the server in the records. */
  readonly runId: string;
  readonly log: Logger;
}

/**
 * A placed call without a record when its job runs has lost its process while it was ringing: it is recorded as
 * failed.
 */
export class PlacedCallJob extends FixedLimitsJob {
  readonly #options: PlacedCallJobOptions;

  constructor(options: PlacedCallJobOptions) {
    super(LIMITS);
    this.#options = options;
  }

  override async run({ orgId, payload, createdAtMs }: ClaimedJob): Promise<JobOutcome> {
    const { calls, runId, log } = this.#options;
    const { callId, ...placed } = v.parse(Payload, payload);
    const { apiKeyId } = placed.callInfo;
    const start = {
      ...placed,
      callId,
      orgId,
      sessionId: callId,
      channel: "phone",
      apiKeyId,
    } as const;
    if (await calls.closePlaced(newCall(start, createdAtMs), runId)) {
      log.warn(
        { callId, orgId },
        "a placed call was lost while it rang, and is recorded as failed",
      );
    }
    return { kind: "done" };
  }
}
