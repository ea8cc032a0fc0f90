import { Fragment } from "react";
import { Link } from "wouter";
import type { Answered } from "../model/contract-paths.js";
import { useVendorShares } from "../model/queries.js";
import { vendorsCsv } from "../model/usage-csv.js";
import { waitWords } from "../words/durations.js";
import { KIND_NAMES, keptFaultWords } from "../words/provider-words.js";
import { CsvButton } from "./calls/csv-button.js";
import { Moment } from "./moment.js";
import { Loaded } from "./states.js";

type Share = Answered<"getVendorShares">[number];

/** Which vendors have answered in how many turns, and which have failed, with what and why. */
export function VendorShares({ days }: { days: number }) {
  const shares = useVendorShares(days);
  return (
    <Loaded query={shares} what="Usage by vendor">
      {(all) => (all.length === 0 ? null : <VendorTable shares={all} />)}
    </Loaded>
  );
}

function VendorTable({ shares }: { shares: readonly Share[] }) {
  return (
    <section className="card stack">
      <div className="row">
        <h2 style={{ flex: "1 1 auto" }}>By vendor</h2>
        <CsvButton
          name="usage-by-vendor.csv"
          label="CSV by vendor"
          text={() => vendorsCsv(shares)}
        />
      </div>
      <p className="soft">
        In the turns of the latest 2,000 calls. A turn whose vendor failed was answered by a
        fallback, or ended in an apology.
      </p>
      <section className="table" tabIndex={0} aria-label="By vendor">
        <table>
          <thead>
            <tr>
              <th scope="col">Vendor</th>
              <th scope="col">Answered</th>
              <th scope="col">Failed</th>
              <th scope="col">Time lost</th>
            </tr>
          </thead>
          <tbody>
            {shares.map(({ category, vendor, answered, failed, wastedMs, faults }) => (
              <Fragment key={`${category} ${vendor}`}>
                <tr>
                  <th scope="row">
                    {vendor} <span className="soft">{KIND_NAMES[category]}</span>
                  </th>
                  <td>{turnWords(answered)}</td>
                  <td>
                    <span className={failed === 0 ? "" : "state fault"}>{turnWords(failed)}</span>
                  </td>
                  <td>{failed === 0 ? "" : waitWords(wastedMs)}</td>
                </tr>
                {faults.length === 0 ? null : (
                  <tr className="more">
                    <td colSpan={4}>
                      <Faults faults={faults} label={`${vendor} ${KIND_NAMES[category]}: faults`} />
                    </td>
                  </tr>
                )}
              </Fragment>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

/** What went wrong with one vendor, and in which call last. */
function Faults({ faults, label }: { faults: Share["faults"]; label: string }) {
  return (
    <ul aria-label={label}>
      {faults.map(({ fault, model, turns, lastCallId, lastCallAt }) => (
        <li key={`${fault} ${model ?? ""}`}>
          {model === null ? "" : `${model}: `}
          {keptFaultWords(fault)}, {turnWords(turns)}{" "}
          <span className="soft">
            (
            <Link href={`/calls/${lastCallId}`}>
              last in the call of <Moment at={lastCallAt} />
            </Link>
            )
          </span>
        </li>
      ))}
    </ul>
  );
}

function turnWords(count: number): string {
  return count === 1 ? "1 turn" : `${count.toLocaleString()} turns`;
}
