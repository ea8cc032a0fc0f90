import { useAgents, useApiKeys, useUsageShares } from "../model/queries.js";
import { type NamedShare, sharesCsv } from "../model/usage-csv.js";
import { endReasonWords } from "../words/call-words.js";
import { totalWords } from "../words/durations.js";
import { CsvButton } from "./calls/csv-button.js";
import { Loaded } from "./states.js";

/** Which agents and which keys have used what. */
export function UsageShares({ days }: { days: number }) {
  const shares = useUsageShares(days);
  const agents = useAgents();
  const apiKeys = useApiKeys();
  const agentName = (id: string) => {
    if (agents.data === undefined) return "An agent";
    return agents.data.find(({ _id }) => _id === id)?.name ?? "An agent that was deleted";
  };
  const keyName = (id: string | null, channel: "web" | "phone" | undefined) => {
    if (id === null)
      return channel === "phone" ? "Telephone, without a key" : "Pages, without a key";
    if (apiKeys.data === undefined) return "A key";
    return apiKeys.data.find((key) => key.id === id)?.name ?? "A key that was deleted";
  };
  return (
    <Loaded query={shares} what="Usage by agent and by key">
      {(data) => (
        <>
          <ShareTable
            title="By agent"
            file="usage-by-agent.csv"
            shares={data.agents.map((share) => ({ ...share, name: agentName(share.id) }))}
          />
          <ShareTable
            title="By key"
            file="usage-by-key.csv"
            shares={data.apiKeys.map((share) => ({
              ...share,
              name: keyName(share.id, share.channel),
            }))}
          />
          {data.isWhole ? null : (
            <p className="soft">
              There were more calls in these days than are counted here: these are the latest{" "}
              {data.calls.toLocaleString()}.
            </p>
          )}
        </>
      )}
    </Loaded>
  );
}

/** Why calls failed. */
function Failures({ failures }: Pick<NamedShare, "failures">) {
  return failures.map(({ endReason, calls }) => (
    <div key={endReason} className="soft">
      {endReasonWords(endReason)}
      {failures.length === 1 ? "" : `: ${calls.toLocaleString()}`}
    </div>
  ));
}

interface ShareTableProps {
  readonly title: string;
  readonly file: string;
  readonly shares: readonly NamedShare[];
}

function ShareTable({ title, file, shares }: ShareTableProps) {
  if (shares.length === 0) return null;
  return (
    <section className="card stack">
      <div className="row">
        <h2 style={{ flex: "1 1 auto" }}>{title}</h2>
        <CsvButton
          name={file}
          label={`CSV ${title.toLowerCase()}`}
          text={() => sharesCsv(shares)}
        />
      </div>
      <section className="table" tabIndex={0} aria-label={title}>
        <table>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Talked</th>
              <th scope="col">Calls</th>
              <th scope="col">Failed</th>
              <th scope="col" className="spare">
                Tokens
              </th>
              <th scope="col" className="spare">
                Characters spoken
              </th>
            </tr>
          </thead>
          <tbody>
            {shares.map((share, index) => (
              <tr key={index}>
                <th scope="row">
                  <bdi className="clamped" title={share.name}>
                    {share.name}
                  </bdi>
                </th>
                <td>{totalWords(share.minutes * 60)}</td>
                <td>{share.calls.toLocaleString()}</td>
                <td>
                  {share.failed.toLocaleString()}
                  <Failures failures={share.failures} />
                </td>
                <td className="spare">{share.llmTokens.toLocaleString()}</td>
                <td className="spare">{share.ttsChars.toLocaleString()}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}
