import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "wouter";
import { answered, api } from "../model/api.js";
import type { Answered } from "../model/contract-paths.js";
import { skipOf } from "../model/page-numbers.js";
import {
  queryClient,
  useAudit,
  useMe,
  useMembers,
  useOrganization,
  usePlan,
} from "../model/queries.js";
import { type Figure, Figures } from "../parts/figures.js";
import { TextField } from "../parts/forms/field.js";
import { useLeaveGuard } from "../parts/forms/leave-guard.js";
import { Moment } from "../parts/moment.js";
import { Pager } from "../parts/pager.js";
import { Empty, Fault, Loaded, Outline } from "../parts/states.js";
import { TabbedPage } from "../parts/tabbed-page.js";
import { auditSentence } from "../words/audit-words.js";
import { lengthWords } from "../words/durations.js";
import { KIND_NAMES } from "../words/provider-words.js";
import { JobsTab } from "./jobs-tab.js";
import { KeysTab } from "./keys-tab.js";
import { MembersTab } from "./members-tab.js";
import { WebhooksTab } from "./webhooks-tab.js";

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
          <Empty title="No changes yet">
            <p>
              Changes to agents, providers, keys and the organization are listed here for 400 days.
            </p>
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

type Organization = Answered<"getOrganization">;
type OwnPlan = Answered<"getPlan">;

const KINDS = ["llm", "tts", "stt"] as const;

export function OrganizationTab() {
  const organization = useOrganization();
  return (
    <Loaded query={organization}>
      {(data) => (
        <>
          <Rename key={data.name} organization={data} />
          <Plan />
        </>
      )}
    </Loaded>
  );
}

function Rename({ organization }: { organization: Organization }) {
  const [name, setName] = useState(organization.name);
  const hasChanges = name !== organization.name;
  useLeaveGuard(hasChanges);
  const rename = useMutation({
    mutationFn: () => answered(api.PATCH("/api/dashboard/organization", { body: { name } })),
    onSuccess: (answer) => {
      queryClient.setQueryData(["organization"], answer);
      void queryClient.invalidateQueries({ queryKey: ["me"] });
    },
  });
  return (
    <form
      className="card stack"
      onSubmit={(event) => {
        event.preventDefault();
        rename.mutate();
      }}
    >
      <TextField label="Name of the organization" value={name} onChange={setName} required />
      {rename.error === null ? null : <Fault error={rename.error} />}
      <div>
        <button type="submit" className="button main" disabled={!hasChanges || rename.isPending}>
          Save
        </button>
      </div>
    </form>
  );
}

function Plan() {
  const plan = usePlan();
  return (
    <Loaded query={plan} outline={<Outline lines={1} height={240} />} what="The plan">
      {({ name, limits, features, models }) => (
        <section className="card stack">
          <h2>Plan {name}</h2>
          <Figures figures={figuresOf(limits, features)} />
          <div className="stack tight">
            {KINDS.map((kind) => (
              <Models key={kind} kind={kind} names={models[kind]} />
            ))}
          </div>
          <p className="soft">The server’s operator changes the plan.</p>
        </section>
      )}
    </Loaded>
  );
}

function figuresOf(limits: OwnPlan["limits"], features: OwnPlan["features"]): readonly Figure[] {
  const { customProviders, maxCustomProviders } = features;
  return [
    ["Agents", limits.maxAgents.toLocaleString()],
    ["Calls at once", limits.maxConcurrentCalls.toLocaleString()],
    ["Longest call", lengthWords(limits.maxCallDurationSec)],
    ["Minutes a month", limits.maxMonthlyMinutes.toLocaleString()],
    ["Vendors’ accounts of your own", customProviders ? maxCustomProviders.toLocaleString() : "–"],
  ];
}

interface ModelsProps {
  readonly kind: (typeof KINDS)[number];
  readonly names: readonly string[];
}

/** What agents may be made of, folded: there may be hundreds. */
function Models({ kind, names }: ModelsProps) {
  return (
    <details>
      <summary>
        {names.length.toLocaleString()} {KIND_NAMES[kind]} {names.length === 1 ? "model" : "models"}
      </summary>
      <p className="soft">{names.join(", ")}</p>
    </details>
  );
}

const TABS = [
  { id: "keys", title: "API keys", Content: KeysTab },
  { id: "members", title: "Members", Content: MembersTab },
  { id: "organization", title: "Organization", Content: OrganizationTab },
  { id: "webhooks", title: "Webhooks", Content: WebhooksTab },
  { id: "jobs", title: "Jobs", Content: JobsTab },
  { id: "audit", title: "Changes", Content: AuditTab },
] as const;

export function SettingsPage({ tab }: { tab: string }) {
  return <TabbedPage title="Settings" address="/settings" tabs={TABS} tab={tab} />;
}
