import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { answered, api } from "../model/api.js";
import type { Answered } from "../model/contract-paths.js";
import { queryClient, useOrganization } from "../model/queries.js";
import { TextField } from "../parts/field.js";
import { type Figure, Figures } from "../parts/figures.js";
import { useLeaveGuard } from "../parts/leave-guard.js";
import { Fault, Loaded } from "../parts/states.js";
import { lengthWords } from "../words/durations.js";

type Organization = Answered<"getOrganization">;

export function OrganizationTab() {
  const organization = useOrganization();
  return (
    <Loaded query={organization}>
      {(data) => (
        <>
          <Rename key={data.name} organization={data} />
          <Plan organization={data} />
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

function Plan({ organization }: { organization: Organization }) {
  const { limits, planName } = organization;
  const figures: readonly Figure[] = [
    ["Agents", limits.maxAgents.toLocaleString()],
    ["Calls at once", limits.maxConcurrentCalls.toLocaleString()],
    ["Longest call", lengthWords(limits.maxCallDurationSec)],
    ["Minutes a month", limits.maxMonthlyMinutes.toLocaleString()],
  ];
  return (
    <section className="card stack">
      <h2>Plan {planName}</h2>
      <Figures figures={figures} />
      <p className="soft">The people who run this server change the plan.</p>
    </section>
  );
}
