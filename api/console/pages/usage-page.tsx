import { useSearchParams } from "wouter";
import type { Answered } from "../model/contract-paths.js";
import { useUsage, useWaits } from "../model/queries.js";
import { usageCsv } from "../model/usage-csv.js";
import { MinutesChart, PartsChart, WaitsChart } from "../parts/charts.js";
import { ChipChoice } from "../parts/chip-choice.js";
import { CsvButton } from "../parts/csv-button.js";
import { type Figure, Figures } from "../parts/figures.js";
import { PageHead } from "../parts/page-head.js";
import { Loaded, Outline } from "../parts/states.js";
import { UsageShares } from "../parts/usage-shares.js";
import { totalWords } from "../words/durations.js";

type Usage = Answered<"getUsage">;
type Waits = Answered<"getWaits">;

const SPANS = [7, 30, 90] as const;

export function UsagePage() {
  const [search, setSearch] = useSearchParams();
  const days = SPANS.find((each) => String(each) === search.get("days")) ?? 30;
  const usage = useUsage(days);
  const waits = useWaits(days);
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
      <Loaded query={usage} outline={<Outline lines={1} height={260} />}>
        {(data) => <Minutes usage={data} />}
      </Loaded>
      <Loaded query={waits} outline={<Outline lines={2} height={260} />}>
        {(data) => <WaitsOfDays waits={data} />}
      </Loaded>
      <UsageShares days={days} />
    </>
  );
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
      <section className="card stack">
        <h2>What callers waited for</h2>
        <PartsChart waits={waits} />
      </section>
    </>
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
