import { useMutation } from "@tanstack/react-query";
import { useSearchParams } from "wouter";
import { answered, api } from "../model/api.js";
import type { Answered } from "../model/contract-paths.js";
import { skipOf } from "../model/page-numbers.js";
import { queryClient, useJobs, useWebhooks } from "../model/queries.js";
import { ChipChoice } from "../parts/forms/chip-choice.js";
import { useAddressFilters } from "../parts/forms/filter-fields.js";
import { Moment } from "../parts/moment.js";
import { Steps } from "../parts/pager.js";
import { Empty, Fault, Loaded } from "../parts/states.js";

const JOBS_PER_PAGE = 20;
const STATES = ["failed", "queued", "running"] as const;
const STATE_WORDS = { failed: "Failed", queued: "Waiting", running: "Running" } as const;
const NONE = {
  failed: {
    title: "No job has failed",
    text: "A delivery that failed ten times is listed here for 30 days.",
  },
  queued: { title: "No job waits", text: "All that was to be sent was sent." },
  running: { title: "No job runs", text: "Most jobs take less than a second." },
} as const;

type Job = Answered<"listJobs">[number];

/** Work that is done after a call, and what of it has failed for good. */
export function JobsTab() {
  const [search] = useSearchParams();
  const { choose } = useAddressFilters();
  const state = STATES.find((each) => each === search.get("state")) ?? "failed";
  const page = { skip: skipOf(search, JOBS_PER_PAGE), limit: JOBS_PER_PAGE };
  const jobs = useJobs(state, page);
  return (
    <>
      <ChipChoice
        label="State"
        choices={STATES}
        chosen={state}
        wordsOf={(each) => STATE_WORDS[each]}
        onChoose={(each) => choose("state")(each === "failed" ? "" : each)}
      />
      <Loaded query={jobs}>
        {(shown) =>
          shown.items.length === 0 && shown.skip === 0 ? (
            <Empty title={NONE[state].title}>
              <p>{NONE[state].text}</p>
            </Empty>
          ) : (
            <section className="stack tight">
              <JobTable jobs={shown.items} />
              <Steps
                label="More jobs"
                address="/settings/jobs"
                search={search}
                perPage={JOBS_PER_PAGE}
                shown={shown}
              />
            </section>
          )
        }
      </Loaded>
    </>
  );
}

function JobTable({ jobs }: { jobs: readonly Job[] }) {
  const endpoints = useWebhooks();
  const names = new Map(endpoints.data?.map(({ id, name }) => [id, name]));
  return (
    <div className="table">
      <table>
        <thead>
          <tr>
            <th scope="col">Job</th>
            <th scope="col">Last error</th>
            <th scope="col" className="spare number">
              Tries
            </th>
            <th scope="col" className="spare">
              When
            </th>
            <th scope="col">
              <span className="hidden">Retry</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {jobs.map((job) => (
            <tr key={job.id}>
              <td>
                <bdi className="clamped">{jobWords(job, names)}</bdi>
                <div className="soft id spare">{job.id}</div>
              </td>
              <td>{job.lastError ?? "–"}</td>
              <td className="spare number">{job.attempts}</td>
              <td className="spare">
                <Moment at={job.failedAt ?? job.createdAt} />
              </td>
              <td className="number">{job.state === "failed" ? <RetryJob id={job.id} /> : null}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** What the job does, as far as this console knows its kind. */
function jobWords({ kind, payload }: Job, names: ReadonlyMap<string, string>): string {
  switch (kind) {
    case "summary":
      return "Summary of a call";
    case "analysis":
      return "Analysis of a call";
    case "analysisRun":
      return "Analysis of past calls";
    case "placedCall":
      return "Record of a placed call";
    case "warmTransfer":
      return "Way back from a warm transfer";
    case "callList":
      return "Calls of a call list";
    case "embedding":
      return "Embedding of documents";
    case "knowledge":
      return "Fetching of a document";
    case "webhook":
      break;
  }
  return `Delivery to ${names.get(String(payload["endpointId"])) ?? "a removed endpoint"}`;
}

function RetryJob({ id }: { id: string }) {
  const retry = useMutation({
    mutationFn: () =>
      answered(api.POST("/api/dashboard/jobs/{id}/retry", { params: { path: { id } } })),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ["jobs"] }),
  });
  return (
    <>
      <button
        type="button"
        className="button"
        disabled={retry.isPending}
        onClick={() => retry.mutate()}
      >
        Retry
      </button>
      {retry.error === null ? null : <Fault error={retry.error} />}
    </>
  );
}
