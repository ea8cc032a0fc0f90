import { useState } from "react";
import { useSearchParams } from "wouter";
import type { Answered } from "../model/contract-paths.js";
import { isKnown } from "../model/known.js";
import {
  useAgents,
  useApiKeys,
  useUsage,
  useUsageShares,
  useVendorShares,
  useWaits,
} from "../model/queries.js";
import { usageCsv } from "../model/usage-csv.js";
import { CsvButton } from "../parts/calls/csv-button.js";
import { MinutesChart, PartsChart, WaitsChart } from "../parts/charts.js";
import { type Figure, Figures } from "../parts/figures.js";
import { ChipChoice } from "../parts/forms/chip-choice.js";
import { PageHead } from "../parts/page-head.js";
import { Loaded, Outline } from "../parts/states.js";
import { UsageShares } from "../parts/usage-shares.js";
import { VendorShares } from "../parts/vendor-shares.js";
import { totalWords } from "../words/durations.js";

type Usage = Answered<"getUsage">;
type Waits = Answered<"getWaits">;

const SPANS = [7, 30, 90] as const;

export function UsagePage() {
  const [search, setSearch] = useSearchParams();
  const days = SPANS.find((each) => String(each) === search.get("days")) ?? 30;
  const usage = useUsage(days);
  const waits = useWaits(days);
  const known = useKnownParts(days);
  return (
    <>
      <PageHead title="Usage" about="Days are counted in UTC.">
        <ChipChoice
          label="Days"
          choices={SPANS}
          chosen={days}
          wordsOf={(each) => `${each} days`}
          onChoose={(each) => setSearch({ days: String(each) }, { replace: true })}
        />
        <CsvLink usage={usage.data} waits={waits.data} />
      </PageHead>
      {known > 0 ? (
        <Loaded query={usage} what="Minutes a day">
          {(data) => <Minutes usage={data} />}
        </Loaded>
      ) : null}
      {known > 1 ? (
        <Loaded query={waits} what="Waits for a reply">
          {(data) => <WaitsOfDays waits={data} />}
        </Loaded>
      ) : null}
      {known > 2 ? <VendorShares days={days} /> : null}
      {known > 3 ? (
        <UsageShares days={days} />
      ) : (
        <Outline key={known} lines={4 - known} height={260} />
      )}
    </>
  );
}

/** So many parts of the page are known from the top: one that came before those above it would be pushed away by them. */
function useKnownParts(days: number): number {
  const shares = [useUsageShares(days), useAgents(), useApiKeys()];
  const parts = [[useUsage(days)], [useWaits(days)], [useVendorShares(days)], shares];
  const first = parts.findIndex((queries) => !queries.every(isKnown));
  return first < 0 ? parts.length : first;
}

function Minutes({ usage }: { usage: Usage }) {
  const sum = (of: (day: Usage[number]) => number) =>
    usage.reduce((total, day) => total + of(day), 0);
  const figures: readonly Figure[] = [
    ["Talked", totalWords(sum(({ minutes }) => minutes) * 60)],
    ["Calls", sum(({ calls }) => calls).toLocaleString()],
    ["Listened", totalWords(sum(({ sttSeconds }) => sttSeconds))],
    ["Tokens", sum(({ llmTokens }) => llmTokens).toLocaleString()],
    ["Characters spoken", sum(({ ttsChars }) => ttsChars).toLocaleString()],
  ];
  return (
    <section className="card stack">
      <h2>Minutes a day</h2>
      <Figures figures={figures} />
      <MinutesChart usage={usage} />
    </section>
  );
}

function WaitsOfDays({ waits }: { waits: Waits }) {
  const replies = waits.reduce((sum, { turns }) => sum + turns, 0);
  if (replies === 0) {
    return (
      <section className="card stack">
        <h2>Waits for a reply</h2>
        <p className="soft">No reply was measured in these days.</p>
      </section>
    );
  }
  return (
    <>
      <section className="card stack">
        <h2>Waits for a reply</h2>
        <p className="soft">
          The line is the median, the band reaches to what 95 % stayed within;{" "}
          {replies === 1 ? "1 reply" : `${replies.toLocaleString()} replies`}.
        </p>
        <WaitsChart waits={waits} />
      </section>
      <PartsOfWaits waits={waits} />
    </>
  );
}

const SHARES = ["parts", "p95Parts"] as const;
const SHARE_WORDS = { parts: "Median", p95Parts: "95 % within" } as const;

function PartsOfWaits({ waits }: { waits: Waits }) {
  const [share, setShare] = useState<(typeof SHARES)[number]>("parts");
  return (
    <section className="card stack">
      <div className="row">
        <h2 style={{ flex: "1 1 auto" }}>What callers waited for</h2>
        <ChipChoice
          label="Of each part"
          choices={SHARES}
          chosen={share}
          wordsOf={(each) => SHARE_WORDS[each]}
          onChoose={setShare}
        />
      </div>
      <PartsChart key={share} waits={waits} share={share} />
    </section>
  );
}

function CsvLink({ usage, waits }: { usage: Usage | undefined; waits: Waits | undefined }) {
  return (
    <CsvButton
      name="usage.csv"
      label="CSV"
      text={usage === undefined ? undefined : () => usageCsv(usage, waits ?? [])}
    />
  );
}
