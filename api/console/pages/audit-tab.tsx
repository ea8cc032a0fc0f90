import { useAudit, useMe, useMembers } from "../model/queries.js";
import { Moment } from "../parts/moment.js";
import { Empty, Loaded } from "../parts/states.js";
import { auditSentence } from "../words/audit-words.js";

export function AuditTab() {
  const audit = useAudit();
  const me = useMe();
  const members = useMembers();
  const reader = {
    userId: me.data?.user.id ?? "",
    nameById: new Map(members.data?.map(({ id, name }) => [id, name])),
  };
  return (
    <Loaded query={audit}>
      {({ items, total }) =>
        items.length === 0 ? (
          <Empty title="Nothing was changed yet">
            <p>Who changes agents, providers, keys or the organization stands here for 400 days.</p>
          </Empty>
        ) : (
          <section className="stack tight">
            <ul className="lines card">
              {items.map((entry) => (
                <li key={entry.id}>
                  <bdi className="clamped">{auditSentence(entry, reader)}</bdi>
                  <span className="soft">
                    <Moment at={entry.at} />
                  </span>
                </li>
              ))}
            </ul>
            {total > items.length ? (
              <p className="soft">
                The latest {items.length} of {total}; the API gives the others.
              </p>
            ) : null}
          </section>
        )
      }
    </Loaded>
  );
}
