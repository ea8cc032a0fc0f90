import { useSyncExternalStore } from "react";
import { Link } from "wouter";
import { connection, onConnection } from "../model/connection.js";
import type { Answered } from "../model/contract-paths.js";
import { useLiveCalls } from "../model/live-calls.js";
import {
  useAgents,
  useCall,
  useCallListsSlowly,
  useLatestCalls,
  useMe,
  useProviders,
  useReady,
  useStats,
  useUsage,
  useWaits,
} from "../model/queries.js";
import { isKnown } from "../model/query-state.js";
import { spanOf } from "../model/spans.js";
import { Attention } from "../parts/calls/attention.js";
import { agentNameOf, CallRows } from "../parts/calls/call-rows.js";
import { CallsByDay, LatencyByDay } from "../parts/calls/day-charts.js";
import { FirstSteps, usePhoneCalls } from "../parts/first-steps.js";
import { PageHead } from "../parts/page-head.js";
import { Loaded, Outline } from "../parts/states.js";
import { holdWords, isHeldForLong } from "../words/call-list-words.js";
import { otherEndWords } from "../words/call-words.js";
import { againstWords, lengthWords, totalWords, waitWords } from "../words/durations.js";
import { KIND_NAMES } from "../words/provider-words.js";

const WIDTH = 160;
const HEIGHT = 32;
const EDGE = 3;

/** A line without axes; where a value is missing there is a gap, and a lone value is a dot. */
export function SparkLine({
  values,
  label,
}: {
  values: readonly (number | null)[];
  label: string;
}) {
  const known = values.filter((value) => value !== null);
  if (known.length < 2) return null;
  const max = Math.max(...known, 1);
  const stepX = values.length < 2 ? 0 : (WIDTH - 2 * EDGE) / (values.length - 1);
  const point = (value: number, index: number) => ({
    x: EDGE + index * stepX,
    y: HEIGHT - EDGE - (value / max) * (HEIGHT - 2 * EDGE),
  });
  let isPen = false;
  const path = values
    .map((value, index) => {
      if (value === null) {
        isPen = false;
        return "";
      }
      const { x, y } = point(value, index);
      const command = isPen ? "L" : "M";
      isPen = true;
      return `${command}${x.toFixed(1)} ${y.toFixed(1)}`;
    })
    .join("");
  const last = values.at(-1);
  const end = typeof last === "number" ? point(last, values.length - 1) : undefined;
  return (
    <svg width={WIDTH} height={HEIGHT} role="img" aria-label={label}>
      <path d={path} fill="none" stroke="var(--accent)" strokeWidth="2" strokeLinejoin="round" />
      {end === undefined ? null : <circle cx={end.x} cy={end.y} r="3" fill="var(--accent)" />}
    </svg>
  );
}

const WEEK_DAYS = 8;
const ATTENTION_MAX = 5;
const LATEST_MAX = 5;
/** Each is asked for by itself, for its last words. */
const LIVE_MAX = 5;

export function HomePage() {
  const isTold = useLiveCalls();
  const stats = useStats(isTold);
  const isBegun = useAllBegun(stats, isTold);
  return (
    <>
      <PageHead title="Home" about={<ServerState />} />
      {isBegun ? <Sections stats={stats} isTold={isTold} /> : <HomeOutline />}
    </>
  );
}

/** What comes later than the rest would push away what somebody is reading: all of it is waited for once. */
function useAllBegun(stats: ReturnType<typeof useStats>, isTold: boolean): boolean {
  const attention = useLatestCalls({ attention: "true" }, ATTENTION_MAX, isTold);
  const active = useLatestCalls({ status: "active" }, LIVE_MAX, isTold);
  const latest = useLatestCalls({}, LATEST_MAX, isTold);
  const usage = useUsage(WEEK_DAYS);
  const calls = [stats, attention, active, latest, usePhoneCalls(isTold), useCallListsSlowly()];
  const parts = [...calls, usage, useWaits(WEEK_DAYS), useProviders(), useAgents(), useMe()];
  return parts.every(isKnown);
}

function HomeOutline() {
  return (
    <>
      <Outline lines={3} height={122} isTiles />
      <Outline lines={2} height={96} />
    </>
  );
}

interface SectionsProps {
  readonly stats: ReturnType<typeof useStats>;
  readonly isTold: boolean;
}

function Sections({ stats, isTold }: SectionsProps) {
  return (
    <>
      <Loaded query={stats} what="Calls and waits">
        {(totals) => {
          const guide = <FirstSteps callCount={totals.totalCalls} isTold={isTold} />;
          // The guide is what a new organization comes for; another one comes for its calls.
          return totals.totalCalls === 0 ? (
            <>
              {guide}
              <Tiles totals={totals} />
            </>
          ) : (
            <>
              <Tiles totals={totals} />
              <Days />
              {guide}
            </>
          );
        }}
      </Loaded>
      <LiveNow isTold={isTold} />
      <HeldLists />
      <Attention callsMax={ATTENTION_MAX} isTold={isTold} isShownEmpty />
      <LatestCalls isTold={isTold} />
      <VendorHealth />
    </>
  );
}

/** Calls and latency of each day, beside each other. */
function Days() {
  const usage = useUsage(WEEK_DAYS);
  const waits = useWaits(WEEK_DAYS);
  const days = usage.data ?? [];
  const calls = days.reduce((sum, day) => sum + day.calls, 0);
  if (calls === 0) return null;
  const minutes = days.reduce((sum, day) => sum + day.minutes, 0);
  return (
    <section className="halves" aria-label={`The last ${WEEK_DAYS} days`}>
      <div className="card stack">
        <div className="section-head">
          <h2>Calls by day</h2>
          <span className="soft">
            {calls.toLocaleString()} calls, {totalWords(minutes * 60)}
          </span>
        </div>
        <CallsByDay days={days} />
      </div>
      <div className="card stack">
        <div className="section-head">
          <h2>Latency by day</h2>
          <span className="soft">p50 to p95</span>
        </div>
        <LatencyByDay days={waits.data ?? []} />
      </div>
    </section>
  );
}

interface LiveProps {
  readonly isTold: boolean;
}

/** Calls in progress with what was said last in each. */
function LiveNow({ isTold }: LiveProps) {
  const active = useLatestCalls({ status: "active" }, LIVE_MAX, isTold);
  const agents = useAgents();
  const items = active.data?.items ?? [];
  if (items.length === 0) return null;
  return (
    <section className="stack tight">
      <h2>
        <span className="state live">Calls now</span>
      </h2>
      <ul className="cards plain-list">
        {items.map((call) => (
          <li key={call._id} className="card stack tight">
            <Link href={`/calls/${call._id}`}>
              {agentNameOf(call.agentId, agents.data)} with {otherEndWords(call)}
            </Link>
            <LastWords callId={call._id} isTold={isTold} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function LastWords({ callId, isTold }: LiveProps & { readonly callId: string }) {
  const call = useCall(callId, isTold);
  const last = call.data?.transcript.at(-1);
  if (last === undefined) return <span className="soft">Nothing was said yet.</span>;
  return (
    <span className="soft">
      {last.role === "user" ? "Caller" : "Agent"}: <bdi className="clamped">{last.text}</bdi>
    </span>
  );
}

/** Call lists that place no calls, each with the reason. */
function HeldLists() {
  const held = useCallListsSlowly().data?.filter(isHeldForLong) ?? [];
  if (held.length === 0) return null;
  return (
    <section className="stack tight">
      <h2>Call lists that place no calls</h2>
      <ul className="cards plain-list">
        {held.map((list) => (
          <li key={list.id} className="card stack tight">
            <Link href={`/call-lists/${list.id}`}>
              <bdi className="clamped" title={list.name}>
                {list.name}
              </bdi>
            </Link>
            <span className="soft">{holdWords(list)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function LatestCalls({ isTold }: LiveProps) {
  const latest = useLatestCalls({}, LATEST_MAX, isTold);
  const agents = useAgents();
  const items = latest.data?.items ?? [];
  if (items.length === 0) return null;
  return (
    <section className="stack tight">
      <div className="section-head">
        <h2>Latest calls</h2>
        <Link href="/calls">Show all</Link>
      </div>
      <CallRows calls={items} agents={agents.data} />
    </section>
  );
}

function ServerState() {
  const ready = useReady();
  const link = useSyncExternalStore(onConnection, connection);
  if (link === "offline") return <span className="state">You are offline</span>;
  if (link === "unanswered")
    return <span className="state fault">The server does not respond</span>;
  if (ready.error !== null) return <span className="state fault">{ready.error.message}</span>;
  if (ready.data === undefined) return <span className="state">Checking the server</span>;
  return <span className="state good">Accepting calls</span>;
}

function Tiles({ totals }: { totals: Answered<"getStats"> }) {
  return (
    <div className="tiles">
      <Link className="card tile" href="/calls?status=active">
        <h2>Calls now</h2>
        <span className="figure">{totals.activeCalls}</span>
        <span className="soft">{totals.totalCalls.toLocaleString()} in total</span>
      </Link>
      <WaitsTile />
      <div className="card tile">
        <h2>Talk time</h2>
        <span className="figure">{totalWords(totals.totalMinutes * 60)}</span>
        <span className="soft">{lengthWords(totals.avgDurationSec)} a call</span>
      </div>
    </div>
  );
}

/** The last week is the median of its days, which a single bad day does not move. */
function WaitsTile() {
  const waits = useWaits(WEEK_DAYS);
  return (
    <section className="card tile">
      <h2>Latency today</h2>
      <Loaded query={waits} outline={<Outline lines={1} height={64} />}>
        {(days) => {
          const { today, before } = spanOf(days);
          return (
            <>
              <span className="figure">{today === undefined ? "–" : waitWords(today.p50Ms)}</span>
              <span className="soft">
                {today === undefined
                  ? "no replies yet today"
                  : `p50 of the replies; p95 ${waitWords(today.p95Ms)}`}
              </span>
              {before === undefined ? null : (
                <span className="soft">
                  last week {waitWords(before.p50Ms)} and {waitWords(before.p95Ms)}
                  {today === undefined ? null : (
                    <>
                      : today is <strong>{againstWords(today.p50Ms, before.p50Ms)}</strong>
                    </>
                  )}
                </span>
              )}
              <SparkLine
                values={days.map(({ p50Ms }) => p50Ms)}
                label="Latency of the last 8 days"
              />
            </>
          );
        }}
      </Loaded>
    </section>
  );
}

function VendorHealth() {
  const providers = useProviders();
  const agents = useAgents();
  const data =
    providers.data && agents.data ? { all: providers.data, agents: agents.data } : undefined;
  const error = providers.error ?? agents.error;
  const refetch = () => Promise.all([providers.refetch(), agents.refetch()]);
  return (
    <section className="stack">
      <h2>Providers in use</h2>
      <Loaded query={{ data, error, refetch }} outline={<Outline lines={1} height={24} />}>
        {({ all, agents: users }) => {
          const used = new Set(
            users.flatMap((agent) => [
              agent.llmProviderId,
              agent.ttsProviderId,
              agent.sttProviderId,
            ]),
          );
          const shown = all.filter(({ _id }) => used.has(_id));
          if (shown.length === 0) return <p className="soft">No agent uses one yet.</p>;
          return (
            <ul className="dots">
              {shown.map((provider) => {
                const { look, words } = healthOf(provider);
                return (
                  <li key={provider._id} className={`state ${look}`}>
                    <Link href="/providers">{provider.name}</Link>
                    <span className="soft">
                      {KIND_NAMES[provider.category]}
                      {words}
                    </span>
                  </li>
                );
              })}
            </ul>
          );
        }}
      </Loaded>
    </section>
  );
}

/** Whether calls can use it just now, as they have found it. */
function healthOf({ active, breaker, simulated }: Answered<"listProviders">[number]) {
  if (!active) return { look: "fault", words: ", switched off" };
  if (breaker === "open") return { look: "fault", words: ", failing" };
  if (breaker === "halfOpen") return { look: "warn", words: ", failed, retrying" };
  if (simulated) return { look: "warn", words: ", simulated" };
  return { look: "good", words: "" };
}
