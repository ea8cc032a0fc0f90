import { Link } from "wouter";
import type { Answered } from "../model/contract-paths.js";
import {
  ORGANIZATIONS_PER_PAGE,
  pageOf,
  usePlatformOrganizations,
  WORDS_CHARACTERS_MAX,
} from "../model/platform-queries.js";
import { ofMostWords, STATUS_WORDS } from "../words/platform-words.js";
import { ChipSelect, type Choice, useAddressFilters, WordsField } from "./forms/filter-fields.js";
import { Moment } from "./moment.js";
import { Pager } from "./pager.js";
import { Empty, Loaded } from "./states.js";

type Page = Answered<"listOrganizations">;

const STATUSES: readonly Choice[] = [
  { value: "", label: "Any status" },
  { value: "pending", label: "Pending" },
  { value: "active", label: "Active" },
];

export function PlatformOrganizations() {
  const { search, choose } = useAddressFilters();
  const page = pageOf(search);
  const organizations = usePlatformOrganizations(page);
  return (
    <>
      <div className="chips filters" role="group" aria-label="Filters">
        <WordsField
          key={search.get("words")}
          label="Name or e-mail"
          charactersMax={WORDS_CHARACTERS_MAX}
          words={search.get("words") ?? ""}
          onChange={choose("words")}
        />
        <ChipSelect
          label="Status"
          choices={STATUSES}
          value={page.status ?? ""}
          onChange={choose("status")}
        />
      </div>
      <Loaded query={organizations}>
        {(found) =>
          found.items.length === 0 ? (
            <Empty title="No organization is like that">
              <p>Take a filter away to see more.</p>
              <Link className="button" href="/platform/organizations">
                Show all organizations
              </Link>
            </Empty>
          ) : (
            <>
              <OrganizationTable items={found.items} />
              <Pager
                label="More organizations"
                address="/platform/organizations"
                search={search}
                perPage={ORGANIZATIONS_PER_PAGE}
                shown={found}
              />
            </>
          )
        }
      </Loaded>
    </>
  );
}

function OrganizationTable({ items }: Pick<Page, "items">) {
  return (
    <div className="table">
      <table>
        <thead>
          <tr>
            <th scope="col">Organization</th>
            <th scope="col">Status</th>
            <th scope="col" className="spare">
              Plan
            </th>
            <th scope="col" className="number">
              Calls now
            </th>
            <th scope="col" className="number spare">
              Minutes this month
            </th>
            <th scope="col" className="spare">
              Since
            </th>
          </tr>
        </thead>
        <tbody>
          {items.map((each) => (
            <tr key={each.id}>
              <th scope="row" className="name">
                <Link href={`/platform/organizations/${each.id}`} data-row>
                  <bdi className="clamped" title={each.name}>
                    {each.name}
                  </bdi>
                </Link>
                <div className="soft">{each.ownerEmail}</div>
              </th>
              <td>
                <span className={each.status === "active" ? "state good" : "state warn"}>
                  {STATUS_WORDS[each.status]}
                </span>
              </td>
              <td className="spare">{each.planName}</td>
              <td className="number">
                {ofMostWords(each.activeCalls, each.limits.maxConcurrentCalls)}
              </td>
              <td className="number spare">
                {ofMostWords(Math.round(each.monthMinutes), each.limits.maxMonthlyMinutes)}
              </td>
              <td className="spare">
                <Moment at={each.createdAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
