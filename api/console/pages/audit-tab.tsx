import { useSearchParams } from "wouter";
import { skipOf } from "../model/page-numbers.js";
import { useAudit, useMe, useMembers } from "../model/queries.js";
import { Moment } from "../parts/moment.js";
import { Pager } from "../parts/pager.js";
import { Empty, Loaded } from "../parts/states.js";
import { auditSentence } from "../words/audit-words.js";

const ENTRIES_PER_PAGE = 50;

export function AuditTab() {
  const [search] = useSearchParams();
  const audit = useAudit(skipOf(search, ENTRIES_PER_PAGE), ENTRIES_PER_PAGE);
  const me = useMe();
  const members = useMembers();
  const reader = {
    userId: me.data?.user.id ?? "",
    nameById: new Map(members.data?.map(({ id, name }) => [id, name])),
  };
  return (
    <Loaded query={audit}>
      {(shown) =>
        shown.total === 0 ? (
          <Empty title="Nothing was changed yet">
            <p>Who changes agents, providers, keys or the organization stands here for 400 days.</p>
          </Empty>
        ) : (
          <section className="stack tight">
            <ul className="lines card">
              {shown.items.map((entry) => (
                <li key={entry.id}>
                  <bdi className="clamped">{auditSentence(entry, reader)}</bdi>
                  <span className="soft">
                    <Moment at={entry.at} />
                  </span>
                </li>
              ))}
            </ul>
            <Pager
              label="More changes"
              address="/settings/audit"
              search={search}
              perPage={ENTRIES_PER_PAGE}
              shown={shown}
            />
          </section>
        )
      }
    </Loaded>
  );
}
