import { useMutation } from "@tanstack/react-query";
import { Download } from "lucide-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { answered, api, faultOf, fetchAsUser } from "../model/api.js";
import type { Answered } from "../model/contract-paths.js";
import { queryClient, useAgents, useCallList, useCallListRows } from "../model/queries.js";
import { SERVER_URL } from "../model/server-address.js";
import { agentNameOf } from "../parts/calls/call-rows.js";
import { saveFile } from "../parts/calls/csv-button.js";
import { type Figure, Figures } from "../parts/figures.js";
import { ChipChoice } from "../parts/forms/chip-choice.js";
import { ConfirmButton } from "../parts/forms/confirm-dialog.js";
import { Moment } from "../parts/moment.js";
import { PageHead } from "../parts/page-head.js";
import { ShowMore } from "../parts/show-more.js";
import { Fault, Loaded } from "../parts/states.js";
import {
  countsWords,
  holdWords,
  isHeldByVendor,
  listState,
  peopleOf,
  ROW_STATES,
  reachedWords,
  rowReasonWords,
  windowsWords,
} from "../words/call-list-words.js";
import { minuteWords } from "../words/durations.js";
import { Progress } from "./call-lists-page.js";

type CallList = Answered<"getCallList">;
type Row = Answered<"listCallListRows">["rows"][number];
type RowState = Row["state"];

const SHOWN = ["all", "calling", "waiting", "completed", "failed", "skipped", "cancelled"] as const;
type Shown = (typeof SHOWN)[number];

const renewLists = () => queryClient.invalidateQueries({ queryKey: ["callLists"] });

/** One list: how far it is, what can be done with it, and what became of each person. */
export function CallListPage({ id }: { id: string }) {
  const list = useCallList(id);
  return (
    <Loaded
      query={list}
      head={<PageHead title="Call list" />}
      notFoundContent={<Link href="/call-lists">All call lists</Link>}
    >
      {(data) => <KnownList list={data} />}
    </Loaded>
  );
}

function KnownList({ list }: { list: CallList }) {
  const agents = useAgents();
  const { words, look } = listState(list);
  const hold = holdWords(list);
  const figures: readonly Figure[] = [
    ["Reached", reachedWords(list.counts)],
    ["Agent", agentNameOf(list.agentId, agents.data)],
    ["Calls from", list.from],
    ["At the same time", String(list.callsMax)],
    ["Hours", windowsWords(list.windows)],
  ];
  return (
    <>
      <PageHead title={list.name} about={<Link href="/call-lists">Call lists</Link>}>
        <Results list={list} />
        <Actions list={list} />
      </PageHead>
      <section className="card stack">
        <div>
          <span className={`state ${look}`}>{words}</span>
        </div>
        <div>
          <Progress counts={list.counts} />
          <span className="soft" role="status">
            {countsWords(list.counts)}
          </span>
        </div>
        <Figures figures={figures} />
        {hold === undefined ? null : <p className="note warn">{hold}</p>}
      </section>
      <Outcomes list={list} />
      <People id={list.id} isRunning={list.state === "running"} />
    </>
  );
}

/** How many people each outcome has, the most first. */
function Outcomes({ list: { outcomes, counts } }: { list: CallList }) {
  if (outcomes.length === 0) return null;
  const people = peopleOf(counts);
  return (
    <section className="stack">
      <h2>Outcomes</h2>
      <div className="table">
        <table>
          <thead>
            <tr>
              <th scope="col">Outcome</th>
              <th scope="col" className="number">
                People
              </th>
            </tr>
          </thead>
          <tbody>
            {outcomes.map(({ state, reason, people: count }) => (
              <tr key={`${state} ${reason}`}>
                <td>
                  <span className={`state ${ROW_STATES[state].look}`}>
                    {ROW_STATES[state].words}
                  </span>
                  <div className="soft">{rowReasonWords(reason, state)}</div>
                </td>
                <td className="number">
                  {count}
                  <div className="soft">{Math.round((100 * count) / people)} %</div>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

const ACTIONS = {
  ready: ["start", "Start calling"],
  running: ["pause", "Pause"],
  paused: ["resume", "Resume"],
} as const;

function Actions({ list }: { list: CallList }) {
  const { id, name, state } = list;
  const [, navigate] = useLocation();
  const params = { path: { id } };
  const change = useMutation({
    mutationFn: (action: "start" | "pause" | "resume") => {
      if (action === "start")
        return answered(api.POST("/api/dashboard/call-lists/{id}/start", { params }));
      if (action === "pause")
        return answered(api.POST("/api/dashboard/call-lists/{id}/pause", { params }));
      return answered(api.POST("/api/dashboard/call-lists/{id}/resume", { params }));
    },
    onSettled: renewLists,
  });
  const next = state === "completed" || state === "cancelled" ? undefined : ACTIONS[state];
  return (
    <>
      {isHeldByVendor(list) ? (
        <button
          type="button"
          className="button main"
          disabled={change.isPending}
          onClick={() => change.mutate("resume")}
        >
          Try now
        </button>
      ) : null}
      {next === undefined ? null : (
        <button
          type="button"
          className={state === "running" ? "button" : "button main"}
          disabled={change.isPending}
          onClick={() => change.mutate(next[0])}
        >
          {next[1]}
        </button>
      )}
      {next === undefined ? (
        <ConfirmButton
          action="Delete"
          name={name}
          consequence="The list and what became of its people are deleted. The calls are kept."
          keep="Keep it"
          act={() => answered(api.DELETE("/api/dashboard/call-lists/{id}", { params }))}
          onDone={async () => {
            navigate("/call-lists");
            await renewLists();
          }}
        />
      ) : (
        <ConfirmButton
          action="Cancel the list"
          name={name}
          consequence="Nobody else of the list is called, and it cannot be resumed. Calls in progress go on."
          keep="Keep it"
          act={() => answered(api.POST("/api/dashboard/call-lists/{id}/cancel", { params }))}
          onDone={renewLists}
        />
      )}
      {change.error === null ? null : <Fault error={change.error} />}
    </>
  );
}

function Results({ list: { id, name } }: { list: CallList }) {
  const load = useMutation({
    mutationFn: async () => {
      const url = `${SERVER_URL}/api/dashboard/call-lists/${encodeURIComponent(id)}/results`;
      const response = await fetchAsUser(new Request(url));
      if (!response.ok) throw faultOf(response.status, await response.json());
      saveFile(`${name}.csv`, "text/csv", await response.blob());
    },
  });
  return (
    <>
      <button
        type="button"
        className="button"
        disabled={load.isPending}
        onClick={() => load.mutate()}
      >
        <Download size={16} aria-hidden /> Results
      </button>
      {load.error === null ? null : <Fault error={load.error} />}
    </>
  );
}

function People({ id, isRunning }: { id: string; isRunning: boolean }) {
  const [shown, setShown] = useState<Shown>("all");
  const state: RowState | undefined = shown === "all" ? undefined : shown;
  const pages = useCallListRows(id, state, isRunning);
  return (
    <section className="stack">
      <h2>People</h2>
      <ChipChoice
        label="People"
        choices={SHOWN}
        chosen={shown}
        wordsOf={(each) => (each === "all" ? "all" : ROW_STATES[each].words)}
        onChoose={setShown}
      />
      <Loaded query={pages} what="The people">
        {(data) => {
          const rows = data.pages.flatMap((page) => page.rows);
          if (rows.length === 0) return <p className="soft">Nobody is in this state.</p>;
          return (
            <>
              <PeopleTable rows={rows} />
              <ShowMore pages={pages} />
            </>
          );
        }}
      </Loaded>
    </section>
  );
}

function PeopleTable({ rows }: { rows: readonly Row[] }) {
  return (
    <div className="table">
      <table>
        <thead>
          <tr>
            <th scope="col">Person</th>
            <th scope="col">Outcome</th>
            <th scope="col" className="number">
              Calls
            </th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <PersonRow key={row.position} row={row} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function PersonRow({ row }: { row: Row }) {
  const { to, variables, state, reason, attempts, lastCallId, lastCalledAt, nextCallAfter } = row;
  const values = Object.values(variables).join(", ");
  return (
    <tr>
      <td>
        <bdi>{to}</bdi>
        <div className="soft">
          <bdi className="clamped" title={values}>
            {values}
          </bdi>
        </div>
      </td>
      <td>
        <span className={`state ${ROW_STATES[state].look}`}>{ROW_STATES[state].words}</span>
        <div className="soft">
          {reason === null ? null : rowReasonWords(reason, state)}
          {nextCallAfter === null
            ? null
            : `, again after ${minuteWords(Date.parse(nextCallAfter))}`}
        </div>
      </td>
      <td className="number">
        {lastCallId === null ? (
          attempts
        ) : (
          <>
            {attempts} · <Link href={`/calls/${lastCallId}`}>last call</Link>
          </>
        )}
        {lastCalledAt === null ? null : (
          <div className="soft">
            <Moment at={lastCalledAt} />
          </div>
        )}
      </td>
    </tr>
  );
}
