import { type ReactNode, useEffect } from "react";
import { Link, useSearchParams } from "wouter";
import { filtersOf } from "../model/call-filters.js";
import type { Answered } from "../model/contract-paths.js";
import { isKnown } from "../model/known.js";
import { useLiveCalls } from "../model/live-calls.js";
import { useAgents, useCalls, useLatestCalls } from "../model/queries.js";
import { Attention } from "../parts/calls/attention.js";
import { CallFilterChips } from "../parts/calls/call-filter-chips.js";
import { CallRows } from "../parts/calls/call-rows.js";
import { LongCalls, type LongCallsProps } from "../parts/calls/long-calls.js";
import { PageHead } from "../parts/page-head.js";
import { Empty, Loaded, Outline } from "../parts/states.js";

const LIVE_MAX = 20;
const ATTENTION_MAX = 3;
const RENEWED_PAGES_MAX = 2;
/** Keeps the line of a number that is not known yet. */
const NO_COUNT = "\u00a0";

export function CallsPage() {
  const [search] = useSearchParams();
  const filters = filtersOf(search);
  const isTold = useLiveCalls();
  const live = useLatestCalls({ status: "active" }, LIVE_MAX, isTold);
  const liveCount = live.data?.total;
  const calls = useCalls(filters);
  const agents = useAgents();
  const pages = calls.data?.pages;
  const total = pages?.at(-1)?.total ?? 0;
  const items = pages?.flatMap((page) => page.items) ?? [];
  const isFiltered = Object.keys(filters).length > 0;
  const { refetch } = calls;
  const pageCount = pages?.length ?? 0;
  // Neither a long list nor a search is done anew whenever a call ends.
  const isCheap = pageCount <= RENEWED_PAGES_MAX && filters.words === undefined;
  useEffect(() => {
    if (liveCount !== undefined && isCheap) void refetch();
  }, [liveCount, isCheap, refetch]);
  const list = (
    <Loaded query={{ data: pages, error: calls.error, refetch: calls.refetch }}>
      {() =>
        items.length === 0 ? (
          <NoCalls isFiltered={isFiltered} />
        ) : (
          <AllCalls
            hasHeading={!isFiltered}
            calls={items}
            total={total}
            agents={agents.data}
            more={() => {
              if (!calls.isFetchingNextPage && calls.hasNextPage) void calls.fetchNextPage();
            }}
          />
        )
      }
    </Loaded>
  );
  return (
    <>
      <PageHead title="Calls" about={pages === undefined ? NO_COUNT : countWords(total)} />
      <CallFilterChips agents={agents.data ?? []} />
      {isFiltered ? (
        list
      ) : (
        <Latest live={live} isTold={isTold}>
          {list}
        </Latest>
      )}
    </>
  );
}

interface LatestProps {
  readonly live: ReturnType<typeof useLatestCalls>;
  readonly isTold: boolean;
  readonly children: ReactNode;
}

/**
 * Calls in progress, and calls to be looked at, above the list. It is shown when it is known what stands on top: what came later would
 * push away what somebody is reading.
 */
function Latest({ live, isTold, children }: LatestProps) {
  const attention = useLatestCalls({ attention: "true" }, ATTENTION_MAX, isTold);
  if (!isKnown(live) || !isKnown(attention)) return <Outline lines={4} />;
  return (
    <>
      {live.data === undefined ? null : <LiveCalls {...live.data} />}
      <Attention callsMax={ATTENTION_MAX} isTold={isTold} isShownEmpty={false} />
      {children}
    </>
  );
}

/** The whole list, below calls that stand in sections of their own. */
function AllCalls({ hasHeading, ...list }: LongCallsProps & { readonly hasHeading: boolean }) {
  if (!hasHeading) return <LongCalls {...list} />;
  return (
    <section className="stack tight">
      <h2>All calls</h2>
      <LongCalls {...list} />
    </section>
  );
}

/** Calls in progress, on top of all others. */
function LiveCalls({ items, total }: Answered<"listCalls">) {
  const agents = useAgents();
  if (total === 0) return null;
  return (
    <section className="stack tight">
      <h2>
        <span className="state live">In progress: {total}</span>
      </h2>
      <CallRows calls={items} agents={agents.data} />
    </section>
  );
}

function NoCalls({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered) {
    return (
      <Empty title="No calls match">
        <p>Remove a filter to see more.</p>
        <Link className="button" href="/calls">
          Show all calls
        </Link>
      </Empty>
    );
  }
  return (
    <Empty title="No calls yet">
      <p>
        Every call is kept here: what was said, what of it was heard, how long the caller waited and
        for what.
      </p>
      <Link className="button main" href="/talk">
        Talk to an agent
      </Link>
    </Empty>
  );
}

function countWords(total: number): string {
  return total === 1 ? "1 call" : `${total.toLocaleString()} calls`;
}
