import { useMutation } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { Answered, Sent } from "../model/contract-paths.js";
import {
  changesOfProvider,
  draftOfProvider,
  newProvider,
  type ProviderDraft,
  sentOfDraft,
} from "../model/provider-draft.js";
import { waitWords } from "../words/durations.js";
import { KIND_NAMES } from "../words/provider-words.js";
import { ConfirmDialog } from "./forms/confirm-dialog.js";
import { CheckField, SelectField } from "./forms/field.js";
import { FormDialog } from "./forms/form-dialog.js";
import { Moment } from "./moment.js";
import { ProviderFields } from "./provider-fields.js";
import { Fault } from "./states.js";

type Entry = Answered<"listRegistry">[number];

/** Where providers are kept: those of an organization, or those of the whole server. */
export interface ProviderActions {
  readonly add: (body: Sent<"createProvider">) => Promise<unknown>;
  readonly change: (id: string, body: Sent<"updateProvider">) => Promise<unknown>;
  readonly remove: (id: string) => Promise<unknown>;
  /** Tries an account before it is stored. */
  readonly testNew: (body: Sent<"createProvider">) => Promise<Answered<"testProvider">>;
  readonly test: (id: string) => Promise<Answered<"testProvider">>;
  /** Loads anew what has changed. */
  readonly onDone: () => Promise<void>;
}

type ChangedProvider = Pick<
  Answered<"getProvider">,
  "_id" | "name" | "models" | "settings" | "active"
>;

interface ProviderButtonsProps {
  readonly actions: ProviderActions;
  readonly provider: ChangedProvider;
  /** What the catalogue says of its vendor; undefined until it is known. */
  readonly entry: Entry | undefined;
}

/** What its owners may do with a provider. */
export function ProviderButtons({ actions, provider, entry }: ProviderButtonsProps) {
  const [open, setOpen] = useState<"change" | "delete">();
  const close = () => setOpen(undefined);
  return (
    <div className="row">
      <button
        type="button"
        className="button"
        aria-label={`Change ${provider.name}`}
        disabled={entry === undefined}
        onClick={() => setOpen("change")}
      >
        Change
      </button>
      <button
        type="button"
        className="button fault"
        aria-label={`Delete ${provider.name}`}
        onClick={() => setOpen("delete")}
      >
        Delete
      </button>
      {open === "change" && entry !== undefined ? (
        <ChangeForm actions={actions} provider={provider} entry={entry} onClose={close} />
      ) : null}
      {open === "delete" ? (
        <DeleteDialog actions={actions} provider={provider} onClose={close} />
      ) : null}
    </div>
  );
}

interface ChangeFormProps {
  readonly actions: ProviderActions;
  readonly provider: ChangedProvider;
  readonly entry: Entry;
  readonly onClose: () => void;
}

function ChangeForm({ actions, provider, entry, onClose }: ChangeFormProps) {
  const [draft, setDraft] = useState(() => draftOfProvider(entry, provider));
  const [isActive, setActive] = useState(provider.active);
  const change = useMutation({
    mutationFn: (body: Sent<"updateProvider">) => actions.change(provider._id, body),
    onSuccess: async () => {
      await actions.onDone();
      onClose();
    },
  });
  return (
    <FormDialog
      title={`Change ${provider.name}`}
      action="Save"
      isBusy={change.isPending}
      error={change.error}
      onSubmit={() =>
        change.mutate({ ...changesOfProvider(entry, provider, draft), active: isActive })
      }
      onClose={onClose}
    >
      <CheckField
        label="Switched on"
        hint="When off, calls that need it use the agents’ fallbacks, or are refused."
        value={isActive}
        onChange={setActive}
      />
      <ProviderFields
        entry={entry}
        draft={draft}
        isKeyRequired={false}
        keyHint="Empty keeps the stored key. An address on another server needs the key again."
        error={change.error}
        onChange={setDraft}
      />
    </FormDialog>
  );
}

type DeleteDialogProps = Pick<ChangeFormProps, "actions" | "provider" | "onClose">;

function DeleteDialog({ actions, provider, onClose }: DeleteDialogProps) {
  const remove = useMutation({
    mutationFn: () => actions.remove(provider._id),
    onSuccess: async () => {
      await actions.onDone();
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={`Delete ${provider.name}?`}
      consequence="Its key is deleted. A provider that an agent uses cannot be deleted."
      keep="Keep it"
      action="Delete"
      isBusy={remove.isPending}
      error={remove.error}
      onKeep={onClose}
      onAct={() => remove.mutate()}
    />
  );
}

type TestView = Pick<NonNullable<Answered<"getProvider">["lastTest"]>, "ok" | "latencyMs"> & {
  readonly error?: string | null;
};

interface StoredTestProps {
  readonly actions: Pick<ProviderActions, "test" | "onDone">;
  readonly provider: Pick<Answered<"getProvider">, "_id" | "name" | "lastTest" | "simulated">;
  /** What stands beside the button. */
  readonly children?: ReactNode;
}

/** One small call to the vendor, told in words. */
export function StoredTest({ actions, provider, children }: StoredTestProps) {
  const { _id: id, name, lastTest, simulated } = provider;
  const test = useMutation({ mutationFn: () => actions.test(id), onSuccess: actions.onDone });
  const { data } = test;
  const atMs = data === undefined ? Date.parse(lastTest?.at ?? "") : test.submittedAt;
  return (
    <div className="stack tight">
      <div className="row">
        <button
          type="button"
          className="button"
          disabled={test.isPending}
          aria-label={`Test ${name}`}
          onClick={() => test.mutate()}
        >
          {test.isPending ? "Testing…" : "Test"}
        </button>
        {children}
      </div>
      <TestResult result={data ?? lastTest ?? undefined} isSimulated={simulated} atMs={atMs} />
      {test.error === null ? null : <Fault error={test.error} />}
    </div>
  );
}

interface TestResultProps {
  /** Undefined before a test. */
  readonly result: TestView | undefined;
  readonly isSimulated: boolean;
  readonly atMs: number;
}

function TestResult({ result, isSimulated, atMs }: TestResultProps) {
  return (
    <div role="status">
      {result === undefined ? null : (
        <p className={`state ${result.ok ? "good" : "fault"}`}>
          <span>
            {result.ok
              ? `${isSimulated ? "Simulated: it" : "It"} answered in ${waitWords(result.latencyMs)}.`
              : `${result.error} (after ${waitWords(result.latencyMs)})`}{" "}
            <span className="soft">
              Tried <Moment at={new Date(atMs).toISOString()} />
            </span>
          </span>
        </p>
      )}
    </div>
  );
}

interface NewProviderProps {
  /** Whether the sandbox stands in for a vendor here: then a test says nothing of a key. */
  readonly isSimulated?: boolean;
  readonly entries: readonly Entry[];
  readonly actions: ProviderActions;
  /** What the button says. */
  readonly label: string;
  /** What the form is called. */
  readonly title: string;
}

export function NewProvider({ label, ...form }: NewProviderProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        className="button main"
        disabled={form.entries.length === 0}
        onClick={() => setOpen(true)}
      >
        <Plus size={16} aria-hidden /> {label}
      </button>
      {isOpen ? <ProviderForm {...form} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

const KEY_HINT = "Stored encrypted, and never shown again.";
const NO_DRAFT: ProviderDraft = { name: "", apiKey: "", settings: {}, models: "" };

interface ProviderFormProps extends Omit<NewProviderProps, "label"> {
  readonly onClose: () => void;
}

function ProviderForm(props: ProviderFormProps) {
  const { entries, actions, title, isSimulated = false, onClose } = props;
  const [at, setAt] = useState(0);
  const entry = entries[at];
  const [draft, setDraft] = useState(() => draftFor(entry));
  const test = useMutation({
    mutationFn: (chosen: Entry) => {
      // A name that is still missing is no reason not to try.
      const name = draft.name === "" ? chosen.displayName : draft.name;
      return actions.testNew({ ...bodyOf(chosen, draft), name });
    },
  });
  const add = useMutation({
    mutationFn: (chosen: Entry) => actions.add(bodyOf(chosen, draft)),
    onSuccess: async () => {
      await actions.onDone();
      onClose();
    },
  });
  const choose = (value: string) => {
    const index = Number(value);
    setAt(index);
    // What a person has typed of the account is for the vendor that it was typed for, but for its name.
    setDraft({ ...draftFor(entries[index]), name: draft.name });
    add.reset();
    test.reset();
  };
  return (
    <FormDialog
      title={title}
      action="Add the provider"
      isBusy={add.isPending}
      error={add.error}
      onSubmit={() => {
        if (entry !== undefined) add.mutate(entry);
      }}
      onClose={onClose}
    >
      <SelectField
        label="Vendor"
        value={String(at)}
        onChange={choose}
        options={entries.map(({ displayName, category }, index) => ({
          value: String(index),
          label: `${displayName} (${KIND_NAMES[category]})`,
        }))}
      />
      {entry === undefined ? null : (
        <ProviderFields
          entry={entry}
          draft={draft}
          isKeyRequired={entry.requiresKey}
          keyHint={entry.requiresKey ? KEY_HINT : `Empty if its server needs none. ${KEY_HINT}`}
          error={add.error ?? test.error}
          onChange={(next) => {
            setDraft(next);
            test.reset();
          }}
        />
      )}
      <div>
        <button
          type="button"
          className="button"
          disabled={entry === undefined || test.isPending}
          onClick={() => {
            add.reset();
            if (entry !== undefined) test.mutate(entry);
          }}
        >
          {test.isPending ? "Testing…" : "Test"}
        </button>
      </div>
      <TestResult result={test.data} isSimulated={isSimulated} atMs={test.submittedAt} />
      {test.error === null ? null : <Fault error={test.error} />}
    </FormDialog>
  );
}

function draftFor(entry: Entry | undefined): ProviderDraft {
  return entry === undefined ? NO_DRAFT : newProvider(entry);
}

function bodyOf(entry: Entry, draft: ProviderDraft) {
  const { category, providerKey } = entry;
  return { category, providerKey, ...sentOfDraft(entry, draft) };
}
