import { useMutation } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { Link } from "wouter";
import { answered, api, wordsOfFault } from "../model/api.js";
import type { Answered, Sent } from "../model/contract-paths.js";
import { useAllPlans, usePlatformOrganization } from "../model/platform-queries.js";
import { queryClient } from "../model/queries.js";
import { type Figure, Figures } from "../parts/figures.js";
import { ConfirmDialog } from "../parts/forms/confirm-dialog.js";
import { SelectField } from "../parts/forms/field.js";
import { useFocusOnFault } from "../parts/forms/focus-on-fault.js";
import { NumberField } from "../parts/forms/number-field.js";
import { Moment } from "../parts/moment.js";
import { PageHead } from "../parts/page-head.js";
import { Fault, Loaded } from "../parts/states.js";
import { lengthWords } from "../words/durations.js";
import { ofMostWords, STATUS_WORDS } from "../words/platform-words.js";

type Organization = Answered<"getAnyOrganization">;

export function PlatformOrganizationPage({ id }: { id: string }) {
  const organization = usePlatformOrganization(id);
  const { data } = organization;
  return (
    <>
      <PageHead title={data?.name ?? "Organization"} about={data?.ownerEmail}>
        <Link className="button" href="/platform/organizations">
          All organizations
        </Link>
      </PageHead>
      <Loaded query={organization}>
        {(found) => (
          <>
            <Use organization={found} />
            <Status organization={found} />
            <Plan key={found.planSlug} organization={found} />
            <CustomPlan key={JSON.stringify(found.limits)} organization={found} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Use({ organization }: { organization: Organization }) {
  const { activeCalls, monthMinutes, limits } = organization;
  const figures: readonly Figure[] = [
    ["Calls now", ofMostWords(activeCalls, limits.maxConcurrentCalls)],
    ["Minutes this month", ofMostWords(Math.round(monthMinutes), limits.maxMonthlyMinutes)],
    ["Agents at most", limits.maxAgents.toLocaleString()],
    ["Longest call", lengthWords(limits.maxCallDurationSec)],
  ];
  return (
    <section className="card stack">
      <h2>Use</h2>
      <Figures figures={figures} />
      <p className="soft">
        Signed up <Moment at={organization.createdAt} />. Months are those of UTC.
      </p>
    </section>
  );
}

/** What has been changed stands in the page at once, and in the list when it is looked at. */
function useChange(id: string, onDone: () => void) {
  return useMutation({
    mutationFn: (body: Sent<"changeOrganization">) => {
      const params = { path: { id } };
      return answered(api.PATCH("/api/operator/organizations/{id}", { params, body }));
    },
    onSuccess: async (answer) => {
      onDone();
      await organizationChanged(answer);
    },
  });
}

async function organizationChanged(answer: Organization): Promise<void> {
  queryClient.setQueryData(["platform", "organizations", answer.id], answer);
  await queryClient.invalidateQueries({ queryKey: ["platform", "organizations"] });
}

function Status({ organization: { id, name, status } }: { organization: Organization }) {
  const [isAsking, setAsking] = useState(false);
  const change = useChange(id, () => setAsking(false));
  const isActive = status === "active";
  return (
    <section className="card stack">
      <h2>Status</h2>
      <p>
        <span className={isActive ? "state good" : "state warn"}>{STATUS_WORDS[status]}</span>
      </p>
      <p className="soft">
        {isActive
          ? "Its users and keys can do what the plan includes."
          : "Its users can sign in, but have to wait for the activation."}
      </p>
      {change.error === null || isAsking ? null : <Fault error={change.error} />}
      <div>
        {isActive ? (
          <button type="button" className="button fault" onClick={() => setAsking(true)}>
            Suspend
          </button>
        ) : (
          <button
            type="button"
            className="button main"
            disabled={change.isPending}
            onClick={() => change.mutate({ status: "active" })}
          >
            Activate
          </button>
        )}
      </div>
      {isAsking ? (
        <ConfirmDialog
          title={`Suspend ${name}?`}
          consequence="Its calls end within seconds; their callers are told why. Its users and keys have no access until it is activated again."
          keep="Leave it active"
          action="Suspend"
          isBusy={change.isPending}
          error={change.error}
          onKeep={() => setAsking(false)}
          onAct={() => change.mutate({ status: "pending" })}
        />
      ) : null}
    </section>
  );
}

function Plan({ organization: { id, planSlug, planName } }: { organization: Organization }) {
  const plans = useAllPlans();
  const [chosen, setChosen] = useState(planSlug);
  const change = useChange(id, () => {});
  return (
    <form
      className="card stack"
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ planSlug: chosen });
      }}
    >
      <h2>Plan {planName}</h2>
      <Loaded query={plans}>
        {(all) => (
          <SelectField
            label="Plan"
            hint="It takes effect at once. Agents that the plan does not allow are paused."
            value={chosen}
            onChange={setChosen}
            options={all.map(({ slug, name }) => ({ value: slug, label: name }))}
          />
        )}
      </Loaded>
      {change.error === null ? null : <Fault error={change.error} />}
      <div>
        <button
          type="submit"
          className="button main"
          disabled={chosen === planSlug || change.isPending}
        >
          Change the plan
        </button>
      </div>
    </form>
  );
}

type Limits = Organization["limits"];

const LIMITS = [
  { key: "maxAgents", label: "Agents" },
  { key: "maxConcurrentCalls", label: "Calls at once" },
  { key: "maxCallDurationSec", label: "Longest call, in seconds" },
  { key: "maxMonthlyMinutes", label: "Minutes a month" },
] as const satisfies readonly { readonly key: keyof Limits; readonly label: string }[];

const LIMIT_PATHS = LIMITS.map(({ key }) => `limits.${key}`);

/** Limits for this organization only. It gets a plan of its own, a copy of the current one. */
function CustomPlan({ organization: { id, limits: stored } }: { organization: Organization }) {
  const [limits, setLimits] = useState(stored);
  const form = useRef<HTMLFormElement>(null);
  const change = useMutation({
    mutationFn: (body: Sent<"changeOwnPlan">) => {
      const params = { path: { id } };
      return answered(api.PATCH("/api/operator/organizations/{id}/plan", { params, body }));
    },
    onSuccess: organizationChanged,
  });
  useFocusOnFault(form, change.error);
  const hasChanges = LIMITS.some(({ key }) => limits[key] !== stored[key]);
  return (
    <form
      ref={form}
      className="card stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ limits });
      }}
    >
      <div>
        <h2>Custom limits</h2>
        <p className="soft">
          Saving gives the organization a plan of its own: a copy of its plan with these limits.
        </p>
      </div>
      <div className="grid2">
        {LIMITS.map(({ key, label }) => (
          <NumberField
            key={key}
            label={label}
            value={limits[key]}
            onChange={(value) => setLimits({ ...limits, [key]: value })}
            wrong={wordsOfFault(change.error, `limits.${key}`)}
          />
        ))}
      </div>
      {change.error === null ? null : <Fault error={change.error} markedPaths={LIMIT_PATHS} />}
      <div>
        <button type="submit" className="button main" disabled={!hasChanges || change.isPending}>
          Save the limits
        </button>
      </div>
    </form>
  );
}
