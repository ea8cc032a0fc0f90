import { Link } from "wouter";
import { useCall } from "../../model/queries.js";
import { recordsOf, waitOf } from "../../model/turns.js";
import { Waterfall } from "../calls/waterfall.js";

/** What the server has written down of this call so far: the waterfall grows turn by turn. */
export function TalkRecord({ id }: { id: string }) {
  const call = useCall(id, false);
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
