import type { LadderStatus } from "../encoder-status.js";

const ANSWER_TIMEOUT_MS = 5_000;

/** The fields of a webhook; undefined ones are omitted. */
type Form = Readonly<Record<string, string | number | undefined>>;

export interface ListedBroadcast {
  readonly streamKey: string;
  readonly clientIp: string | undefined;
  readonly session: string;
  readonly startedAtMs: number;
  readonly leaseSec: number;
}

/** The state of a ladder, for /health and /metrics of the state API. */
export interface LadderReport {
  readonly streamKey: string;
  readonly session: string;
  readonly state: LadderStatus["state"];
  readonly speed: number | undefined;
  readonly rungs: readonly string[];
  readonly restarts: number;
  readonly reason: string | undefined;
  readonly leaseSec: number;
}

/** The webhooks of the state API. Each call resolves with whether it was accepted, and never rejects. */
export class StateApiClient {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  list(broadcast: ListedBroadcast, signal?: AbortSignal): Promise<boolean> {
    const form = {
      name: broadcast.streamKey,
      remoteAddr: broadcast.clientIp ?? "",
      session: broadcast.session,
      startedAt: new Date(broadcast.startedAtMs).toISOString(),
      ttl: broadcast.leaseSec,
    };
    return this.#post("on-publish", form, signal);
  }

  /** Without a session any listing of the key is removed. */
  async unlist(streamKey: string, session: string | undefined): Promise<boolean> {
    const form = { name: streamKey, remoteAddr: "", session };
    return (await this.#post("on-unpublish", form)) || this.#post("on-unpublish", form);
  }

  report(report: LadderReport): Promise<boolean> {
    return this.#post("on-ladder", {
      name: report.streamKey,
      session: report.session,
      state: report.state,
      speed: report.speed?.toFixed(2),
      rungs: report.rungs.join(" "),
      restarts: report.restarts,
      reason: report.reason,
      ttl: report.leaseSec,
    });
  }

  async #post(hook: string, form: Form, signal?: AbortSignal): Promise<boolean> {
    const body = new URLSearchParams();
    for (const [name, value] of Object.entries(form)) {
      if (value !== undefined) body.set(name, String(value));
    }
    const timeout = AbortSignal.timeout(ANSWER_TIMEOUT_MS);
    try {
      const answer = await fetch(`${this.#url}/webhook/${hook}`, {
        method: "POST",
        body,
        signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
      });
      await answer.body?.cancel();
      return answer.ok;
    } catch {
      return false;
    }
  }
}
