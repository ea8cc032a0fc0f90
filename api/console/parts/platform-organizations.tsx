import { Link } from "wouter";
import type { Answered } from "../model/contract-paths.js";
import {
  ORGANIZATIONS_PER_PAGE,
  pageOf,
  usePlatformOrganizations,
  WORDS_CHARACTERS_MAX,
} from "../model/platform-queries.js";
import { ofMostWords, STATUS_WORDS } from "../words/platform-words.js";
import { ChipSelect, type Choice, useAddressFilters, WordsField } from "./filter-fields.js";
import { Moment } from "./moment.js";
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
              <Pager {...found} search={search} />
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
            <th scope="col" className="number">
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
              <th scope="row">
                <Link href={`/platform/organizations/${each.id}`} data-row>
                  <bdi>{each.name}</bdi>
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
              <td className="number">
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

function Pager({ skip, items, total, search }: Page & { readonly search: URLSearchParams }) {
  const page = Math.floor(skip / ORGANIZATIONS_PER_PAGE) + 1;
  const at = (other: number) => {
    const next = new URLSearchParams(search);
    next.set("page", String(other));
    return `/platform/organizations?${next.toString()}`;
  };
  const last = skip + items.length;
  return (
    <nav className="row" aria-label="More organizations">
      <span className="soft" role="status">
        {(skip + 1).toLocaleString()} to {last.toLocaleString()} of {total.toLocaleString()}
      </span>
      {page === 1 ? null : (
        <Link className="button" href={at(page - 1)}>
          Newer
        </Link>
      )}
      {last >= total ? null : (
        <Link className="button" href={at(page + 1)}>
          Older
        </Link>
      )}
    </nav>
  );
}
