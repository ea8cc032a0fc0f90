import { useMutation } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { SlidersHorizontal } from "lucide-react";
import { useEffect, useRef, useState, useSyncExternalStore } from "react";
import { Link, useSearchParams } from "wouter";
import {
  type CallFilters,
  filtersOf,
  NUMBER_CHARACTERS_MAX,
  WORDS_CHARACTERS_MAX,
} from "../model/call-filters.js";
import { useLiveCalls } from "../model/live-calls.js";
import { callsToExport, useAgents, useCalls, useLatestCalls } from "../model/queries.js";
import { callsCsv } from "../model/usage-csv.js";
import {
  agentNameOf,
  CallHead,
  CallRow,
  type ListedAgent,
  type ListedCall,
} from "../parts/calls/call-rows.js";
import { saveFile } from "../parts/calls/csv-button.js";
import {
  ChipSelect,
  type Choice,
  DayField,
  useAddressFilters,
  WordsField,
} from "../parts/forms/filter-fields.js";
import { PageHead } from "../parts/page-head.js";
import { Empty, Fault, Loaded } from "../parts/states.js";

const OUTCOMES: readonly Choice[] = [
  { value: "", label: "Any outcome" },
  { value: "active", label: "In progress" },
  { value: "completed", label: "Completed" },
  { value: "failed", label: "Failed" },
];
const CHANNELS: readonly Choice[] = [
  { value: "", label: "Any channel" },
  { value: "web", label: "Browser" },
  { value: "phone", label: "Telephone" },
];
const DIRECTIONS: readonly Choice[] = [
  { value: "", label: "Any direction" },
  { value: "inbound", label: "Inbound" },
  { value: "outbound", label: "Outbound" },
];
const LENGTHS: readonly Choice[] = [
  { value: "", label: "Any length" },
  { value: "30", label: "Longer than 30 s" },
  { value: "120", label: "Longer than 2 min" },
  { value: "600", label: "Longer than 10 min" },
];
const LATENCIES: readonly Choice[] = [
  { value: "", label: "Any mean latency" },
  { value: "1000", label: "Mean above 1 s" },
  { value: "1500", label: "Mean above 1.5 s" },
  { value: "2500", label: "Mean above 2.5 s" },
];

/** Filters that are folded until they are asked for. */
const MORE_FILTERS = ["direction", "from", "to", "since", "until", "longer", "waited"] as const;

/** The filters stand in the address, so that a link shows the same list. */
export function CallFilterChips({ agents }: { agents: readonly ListedAgent[] }) {
  const { search, choose } = useAddressFilters();
  const usedCount = MORE_FILTERS.filter((name) => search.has(name)).length;
  const [isUnfolded, setUnfolded] = useState(usedCount > 0);
  const agentChoices = [
    { value: "", label: "Any agent" },
    ...agents.map(({ _id, name }) => ({ value: _id, label: name })),
  ];
  const needsAttention = search.get("attention") === "true";
  const chip = (name: string, label: string, choices: readonly Choice[]) => (
    <ChipSelect
      label={label}
      choices={choices}
      value={search.get(name) ?? ""}
      onChange={choose(name)}
    />
  );
  return (
    <div
      className={isUnfolded ? "chips filters unfolded" : "chips filters"}
      role="group"
      aria-label="Filters"
    >
      <WordsField
        key={search.get("words")}
        label="Words that were said"
        about="Among the latest 2,000 calls"
        charactersMax={WORDS_CHARACTERS_MAX}
        words={search.get("words") ?? ""}
        onChange={choose("words")}
      />
      <button
        type="button"
        className="chip"
        aria-pressed={needsAttention}
        onClick={() => choose("attention")(needsAttention ? "" : "true")}
      >
        Needs attention
      </button>
      <ChipSelect
        label="Agent"
        choices={agentChoices}
        isSteady
        value={search.get("agent") ?? ""}
        onChange={choose("agent")}
      />
      {chip("status", "Outcome", OUTCOMES)}
      {chip("channel", "Channel", CHANNELS)}
      <button
        type="button"
        className="chip"
        aria-expanded={isUnfolded}
        data-chosen={usedCount > 0}
        onClick={() => setUnfolded(!isUnfolded)}
      >
        <SlidersHorizontal size={14} aria-hidden />
        {usedCount === 0 ? "More filters" : `More filters: ${usedCount}`}
      </button>
      {isUnfolded ? <MoreFilters /> : null}
    </div>
  );
}

function MoreFilters() {
  const { search, choose } = useAddressFilters();
  const chip = (name: string, label: string, choices: readonly Choice[]) => (
    <ChipSelect
      label={label}
      choices={choices}
      value={search.get(name) ?? ""}
      onChange={choose(name)}
    />
  );
  return (
    <>
      {chip("direction", "Direction", DIRECTIONS)}
      <WordsField
        key={`from ${search.get("from")}`}
        label="From number"
        charactersMax={NUMBER_CHARACTERS_MAX}
        words={search.get("from") ?? ""}
        onChange={choose("from")}
      />
      <WordsField
        key={`to ${search.get("to")}`}
        label="To number"
        charactersMax={NUMBER_CHARACTERS_MAX}
        words={search.get("to") ?? ""}
        onChange={choose("to")}
      />
      <DayField label="Since" day={search.get("since") ?? ""} onChange={choose("since")} />
      <DayField label="Until" day={search.get("until") ?? ""} onChange={choose("until")} />
      {chip("longer", "Length", LENGTHS)}
      {chip("waited", "Mean latency", LATENCIES)}
    </>
  );
}

const ROW_PX = 44;
const ROW_OF_PHONE_PX = 68;
const OVERSCAN_ROWS = 12;
/** More are loaded when so few that are loaded are left below. */
const AHEAD_ROWS = 60;
const PHONE = matchMedia("(max-width: 760px)");

export interface LongCallsProps {
  readonly calls: readonly ListedCall[];
  /** Undefined where they are not known, or not yet. */
  readonly agents: readonly ListedAgent[] | undefined;
  /** How many there are at the server. */
  readonly total: number;
  readonly more: () => void;
}

/** However many calls there are, only those in sight are in the page. */
export function LongCalls({ calls, agents, total, more }: LongCallsProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const isPhone = useSyncExternalStore(onPhone, () => PHONE.matches);
  const rowPx = isPhone ? ROW_OF_PHONE_PX : ROW_PX;
  const rows = useVirtualizer({
    count: calls.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowPx,
    overscan: OVERSCAN_ROWS,
  });
  useEffect(() => rows.measure(), [rows, rowPx]);
  const shown = rows.getVirtualItems();
  const lastShown = shown.at(-1)?.index ?? 0;
  useEffect(() => {
    if (calls.length < total && lastShown >= calls.length - AHEAD_ROWS) more();
  }, [calls.length, total, lastShown, more]);
  return (
    <div className="calls">
      <CallHead />
      <section className="scroller" ref={scroller} aria-label="Calls" tabIndex={-1}>
        <div className="long" style={{ height: rows.getTotalSize() }}>
          {shown.map(({ index, start }) => {
            const call = calls[index];
            return call === undefined ? null : (
              <CallRow
                key={call._id}
                call={call}
                offsetPx={start}
                agentName={agentNameOf(call.agentId, agents)}
              />
            );
          })}
        </div>
      </section>
    </div>
  );
}

function onPhone(tell: () => void): () => void {
  PHONE.addEventListener("change", tell);
  return () => PHONE.removeEventListener("change", tell);
}

/** So many of the newest calls in progress are watched for one that begins or ends. */
const LIVE_MAX = 20;
const RENEWED_PAGES_MAX = 2;
/** Keeps the line of a number that is not known yet. */
const NO_COUNT = "\u00a0";

export function CallsPage() {
  const [search] = useSearchParams();
  const filters = filtersOf(search);
  const isTold = useLiveCalls();
  const live = useLatestCalls({ status: "active" }, LIVE_MAX, isTold);
  const liveIds = live.data?.items.map(({ _id }) => _id).join();
  const calls = useCalls(filters);
  const agents = useAgents();
  const pages = calls.data?.pages;
  const total = pages?.at(-1)?.total ?? 0;
  const items = pages?.flatMap((page) => page.items) ?? [];
  const { refetch } = calls;
  const pageCount = pages?.length ?? 0;
  // Neither a long list nor a search is done anew whenever a call begins or ends.
  const isCheap = pageCount <= RENEWED_PAGES_MAX && filters.words === undefined;
  useEffect(() => {
    if (liveIds !== undefined && isCheap) void refetch();
  }, [liveIds, isCheap, refetch]);
  return (
    <>
      <PageHead
        title="Calls"
        about={
          <span className="row">
            {pages === undefined ? NO_COUNT : countWords(total)}
            <LiveCount count={live.data?.total ?? 0} />
          </span>
        }
      >
        <Link className="button" href="/call-lists">
          Call lists
        </Link>
        <ExportCalls filters={filters} agents={agents.data} isDisabled={items.length === 0} />
      </PageHead>
      <CallFilterChips agents={agents.data ?? []} />
      <Loaded query={{ data: pages, error: calls.error, refetch: calls.refetch }}>
        {() =>
          items.length === 0 ? (
            <NoCalls isFiltered={Object.keys(filters).length > 0} />
          ) : (
            <LongCalls
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
    </>
  );
}

/** Calls in progress stand in the list as all others; this leads to them alone. */
function LiveCount({ count }: { count: number }) {
  if (count === 0) return null;
  return (
    <Link href="/calls?status=active" className="state live">
      In progress: {count}
    </Link>
  );
}

interface ExportCallsProps {
  readonly filters: CallFilters;
  readonly agents: readonly ListedAgent[] | undefined;
  readonly isDisabled: boolean;
}

/** The calls that match, newest first, without their words. */
function ExportCalls({ filters, agents, isDisabled }: ExportCallsProps) {
  const exporting = useMutation({
    mutationFn: () => callsToExport(filters),
    onSuccess: (calls) =>
      saveFile(
        "calls.csv",
        "text/csv",
        callsCsv(calls, (id) => agentNameOf(id, agents)),
      ),
  });
  return (
    <>
      {exporting.error === null ? null : <Fault error={exporting.error} />}
      <button
        type="button"
        className="button"
        title="The newest 1,000 that match, as CSV"
        disabled={isDisabled || exporting.isPending}
        onClick={() => exporting.mutate()}
      >
        Export CSV
      </button>
    </>
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
