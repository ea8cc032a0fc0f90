import { Link } from "wouter";
import { useCall, useLatestCalls } from "../model/queries.js";
import { recordsOf, waitOf } from "../model/turns.js";
import { Waterfall } from "./waterfall.js";

const LATEST = 1;

/** What the server has written down of this call so far: the waterfall grows turn by turn. */
export function TalkRecord({ agentId, isOn }: { agentId: string; isOn: boolean }) {
  const latest = useLatestCalls({ agentId, channel: "web" }, LATEST, false);
  const id = latest.data?.items[0]?._id;
  return id === undefined ? null : <RecordOf key={`${id} ${isOn}`} id={id} />;
}

function RecordOf({ id }: { id: string }) {
  const call = useCall(id);
  const waits = recordsOf(call.data?.metadata).flatMap((record) => waitOf(record) ?? []);
  const longestMs = Math.max(...waits.map(({ totalMs }) => totalMs), 0);
  return (
    <section className="stack">
      {waits.length === 0 ? null : <h3>What you waited for</h3>}
      {waits.map((wait, index) => (
        <Waterfall key={index} wait={wait} longestMs={longestMs} />
      ))}
      <Link href={`/calls/${id}`}>This call’s page</Link>
    </section>
  );
}
