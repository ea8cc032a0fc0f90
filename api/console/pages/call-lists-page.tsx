import { useMutation } from "@tanstack/react-query";
import { Upload } from "lucide-react";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { answered, api, wordsOfFault } from "../model/api.js";
import type { Answered, Sent } from "../model/contract-paths.js";
import { CSV_BYTES_MAX, csvTextOf } from "../model/csv-text.js";
import { queryClient, useAgents, useCallLists, useOutboundNumbers } from "../model/queries.js";
import { agentNameOf } from "../parts/calls/call-rows.js";
import { CheckField, SelectField, TextField } from "../parts/forms/field.js";
import { FormDialog } from "../parts/forms/form-dialog.js";
import { NumberField } from "../parts/forms/number-field.js";
import { Moment } from "../parts/moment.js";
import { PageHead } from "../parts/page-head.js";
import { Empty, Loaded } from "../parts/states.js";
import { countsWords, doneOf, holdWords, listState, peopleOf } from "../words/call-list-words.js";

type CallList = Answered<"listCallLists">[number];
type NewList = Sent<"createCallList">;

const EXAMPLE = "to,firstName\n+15550100101,Ada\n+15550100102,Ben\n";
const WEEK = ["mon", "tue", "wed", "thu", "fri"] as const;
const WEEKEND = ["sat", "sun"] as const;

/** Lists of people whom agents call, and how far they are. */
export function CallListsPage() {
  const lists = useCallLists();
  const agents = useAgents();
  const [isAdding, setAdding] = useState(false);
  return (
    <>
      <PageHead title="Call lists" about="People whom an agent calls, one after the other.">
        <button
          type="button"
          className="button main"
          disabled={agents.data === undefined || agents.data.length === 0}
          onClick={() => setAdding(true)}
        >
          <Upload size={16} aria-hidden /> Upload a list
        </button>
      </PageHead>
      <Loaded query={lists}>
        {(all) =>
          all.length === 0 ? (
            <Empty title="No call lists yet">
              <p>
                Upload a CSV file of numbers. The agent calls each person once, within hours that
                you choose, and again where nobody answered.
              </p>
            </Empty>
          ) : (
            <ListTable lists={all} agents={agents.data} />
          )
        }
      </Loaded>
      {isAdding ? <NewCallList onClose={() => setAdding(false)} /> : null}
    </>
  );
}

function ListTable({
  lists,
  agents,
}: {
  lists: readonly CallList[];
  agents: Answered<"listAgents"> | undefined;
}) {
  return (
    <div className="table">
      <table>
        <thead>
          <tr>
            <th scope="col">List</th>
            <th scope="col">Progress</th>
          </tr>
        </thead>
        <tbody>
          {lists.map((list) => (
            <ListRow key={list.id} list={list} agents={agents} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function ListRow({ list, agents }: { list: CallList; agents: Answered<"listAgents"> | undefined }) {
  const { id, name, agentId, counts, createdAt } = list;
  const { words, look } = listState(list);
  return (
    <tr>
      <td className="named">
        <Link href={`/call-lists/${id}`} data-row>
          <bdi className="clamped" title={name}>
            {name}
          </bdi>
        </Link>
        <div className="soft">
          {agentNameOf(agentId, agents)}, <Moment at={createdAt} />
        </div>
      </td>
      <td>
        <div>
          <span className={`state ${look}`}>{words}</span>
        </div>
        <Progress counts={counts} />
        <div className="soft">{countsWords(counts)}</div>
        <div className="soft">{holdWords(list)}</div>
      </td>
    </tr>
  );
}

/** How many of the people are done with. */
export function Progress({ counts }: { counts: CallList["counts"] }) {
  const [done, people] = [doneOf(counts), peopleOf(counts)];
  return (
    <>
      {done} of {people} done
      <div className="meter" aria-hidden>
        <span style={{ transform: `scaleX(${people === 0 ? 0 : done / people})` }} />
      </div>
    </>
  );
}

function NewCallList({ onClose }: { onClose: () => void }) {
  const agents = useAgents();
  const allowed = useOutboundNumbers();
  const [, navigate] = useLocation();
  const numbers = allowed.data?.numbers ?? [];
  const isSimulated = allowed.data?.simulated === true;
  const [name, setName] = useState("");
  const [chosenAgentId, setAgentId] = useState("");
  const [typedFrom, setFrom] = useState("");
  const [csv, setCsv] = useState("");
  const [from, to] = useTimes();
  const [hasWeekend, setWeekend] = useState(false);
  const [callsMax, setCallsMax] = useState(2);
  const [times, setTimes] = useState(1);
  const [afterMinutes, setAfterMinutes] = useState(60);
  const [detectMachine, setDetectMachine] = useState(true);
  const agentId = chosenAgentId === "" ? (agents.data?.[0]?._id ?? "") : chosenAgentId;
  const callingNumber = typedFrom === "" ? (numbers[0] ?? "") : typedFrom;
  const add = useMutation({
    mutationFn: () => {
      const days = [...WEEK, ...(hasWeekend ? WEEKEND : [])];
      const rule = { times, afterMinutes };
      const retries: NewList["retries"] =
        times === 0 ? {} : { busy: rule, noAnswer: rule, machine: rule, failed: rule };
      const windows = [{ days, from: from.value, to: to.value }];
      const chosen = { agentId, from: callingNumber, callsMax, windows, retries };
      return answered(
        api.POST("/api/dashboard/call-lists", { body: { name, csv, detectMachine, ...chosen } }),
      );
    },
    onSuccess: async ({ id }) => {
      await queryClient.invalidateQueries({ queryKey: ["callLists"] });
      onClose();
      navigate(`/call-lists/${id}`);
    },
  });
  return (
    <FormDialog
      title="Upload a list"
      action="Upload the list"
      isBusy={add.isPending}
      error={add.error}
      onSubmit={() => add.mutate()}
      onClose={onClose}
    >
      <TextField label="Name" value={name} onChange={setName} required />
      <SelectField
        label="Agent"
        value={agentId}
        onChange={setAgentId}
        options={(agents.data ?? []).map((agent) => ({ value: agent._id, label: agent.name }))}
      />
      {isSimulated || numbers.length === 0 ? (
        <TextField
          label="Calls from"
          type="tel"
          placeholder="+15550100"
          value={typedFrom}
          onChange={setFrom}
          wrong={wordsOfFault(add.error, "from")}
          required
        />
      ) : (
        <SelectField
          label="Calls from"
          value={callingNumber}
          onChange={setFrom}
          options={numbers.map((number) => ({ value: number, label: number }))}
        />
      )}
      <CsvField value={csv} onChange={setCsv} />
      <div className="row">
        <TimeField label="From" {...from} />
        <TimeField label="Until" {...to} />
      </div>
      <CheckField
        label="Also on Saturday and Sunday"
        hint="Hours are in the called person’s own time."
        value={hasWeekend}
        onChange={setWeekend}
      />
      <NumberField label="Calls at the same time" value={callsMax} onChange={setCallsMax} />
      <NumberField
        label="More calls to who was not reached"
        hint="0 calls everybody once."
        value={times}
        onChange={setTimes}
      />
      <NumberField
        label="Minutes until the next call"
        value={afterMinutes}
        onChange={setAfterMinutes}
      />
      <CheckField
        label="Detect answering machines: leave the agent's message, or hang up"
        value={detectMachine}
        onChange={setDetectMachine}
      />
    </FormDialog>
  );
}

function CsvField({ value, onChange }: { value: string; onChange: (csv: string) => void }) {
  const [wrong, setWrong] = useState<string | undefined>();
  const read = async (file: File) => {
    const isTooLarge = file.size > CSV_BYTES_MAX;
    setWrong(isTooLarge ? "The file has more than 1 MB. Split it into several lists." : undefined);
    if (!isTooLarge) onChange(csvTextOf(new Uint8Array(await file.arrayBuffer())));
  };
  return (
    <>
      <TextField
        label="People"
        hint="CSV with the names of the columns in its first line. “to” is the number; “timeZone” may be another column; all others become variables of the call."
        isLong
        placeholder={EXAMPLE}
        wrong={wrong}
        value={value}
        onChange={onChange}
      />
      <input
        type="file"
        accept=".csv,text/csv,.txt"
        aria-label="A CSV file"
        onChange={({ target }) => {
          const [file] = target.files ?? [];
          if (file !== undefined) void read(file);
        }}
      />
    </>
  );
}

interface Time {
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function useTimes(): readonly [Time, Time] {
  const [from, setFrom] = useState("09:00");
  const [to, setTo] = useState("20:00");
  return [
    { value: from, onChange: setFrom },
    { value: to, onChange: setTo },
  ];
}

function TimeField({ label, value, onChange }: Time & { readonly label: string }) {
  return <TextField label={label} placeholder="09:00" value={value} onChange={onChange} required />;
}
