import { Link } from "wouter";
import { useAgents, useLatestCalls } from "../../model/queries.js";
import { attentionWords } from "../../words/call-words.js";
import { Loaded, Outline } from "../states.js";
import { CallRows } from "./call-rows.js";

interface AttentionProps {
  /** So many of the latest. */
  readonly callsMax: number;
  /** The page is told when calls end. */
  readonly isTold: boolean;
  /** Whether it says so when there are none. */
  readonly isShownEmpty: boolean;
}

/** Calls that somebody should look at, each with the reason. */
export function Attention({ callsMax, isTold, isShownEmpty }: AttentionProps) {
  const calls = useLatestCalls({ attention: "true" }, callsMax, isTold);
  const agents = useAgents();
  if (!isShownEmpty && (calls.data?.total ?? 0) === 0) return null;
  return (
    <section className="stack tight">
      <div className="section-head">
        <h2>Calls that need attention</h2>
        <Link href="/calls?attention=true">Show all</Link>
      </div>
      <Loaded query={calls} outline={<Outline lines={1} height={24} />}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="soft">
              None. Calls appear here if they failed, were interrupted often, kept the caller
              waiting, or had no words from the caller.
            </p>
          ) : (
            <CallRows calls={items} agents={agents.data} endingOf={attentionWords} />
          )
        }
      </Loaded>
    </section>
  );
}
