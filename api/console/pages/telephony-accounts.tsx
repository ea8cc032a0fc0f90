import { useMutation } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { answered, api, wordsOfFault } from "../model/api.js";
import type { Answered } from "../model/contract-paths.js";
import {
  queryClient,
  useAccountNumbers,
  useMe,
  useTelephonyAccounts,
  useTelephonyVendors,
} from "../model/queries.js";
import { SERVER_URL } from "../model/server-address.js";
import { ConfirmButton } from "../parts/forms/confirm-dialog.js";
import { SelectField, TextField } from "../parts/forms/field.js";
import { FormDialog } from "../parts/forms/form-dialog.js";
import { Fault, Loaded } from "../parts/states.js";
import { phoneVendorName } from "../words/phone-vendor-words.js";

type Agent = Answered<"getAgent">;
type Account = Answered<"listTelephonyAccounts">[number];
type Vendor = Answered<"listTelephonyVendors">[number];

/** The organization's own accounts at telephony vendors, and the numbers in them. */
export function TelephonyAccounts({ agents }: { agents: readonly Agent[] }) {
  const accounts = useTelephonyAccounts();
  const vendors = useTelephonyVendors();
  const me = useMe();
  const [isAdding, setAdding] = useState(false);
  const mayChange = me.data?.user.role === "admin";
  const left = vendors.data?.filter(
    ({ vendor }) => !accounts.data?.some((account) => account.vendor === vendor),
  );
  const [first, ...others] = left ?? [];
  return (
    <>
      <div className="section-head">
        <p className="soft">
          Calls from and to numbers of your own account are carried, and paid, by that account.
        </p>
        {mayChange && first !== undefined ? (
          <button type="button" className="button" onClick={() => setAdding(true)}>
            <Plus size={16} aria-hidden /> Add an account
          </button>
        ) : null}
      </div>
      <Loaded query={accounts} what="Your telephony accounts">
        {(all) => (
          <>
            {all.map((account) => (
              <AccountCard key={account.id} {...{ account, agents, mayChange }} />
            ))}
          </>
        )}
      </Loaded>
      {isAdding && first !== undefined ? (
        <NewAccount vendors={[first, ...others]} onClose={() => setAdding(false)} />
      ) : null}
    </>
  );
}

function refreshed() {
  return Promise.all([
    queryClient.invalidateQueries({ queryKey: ["telephonyAccounts"] }),
    queryClient.invalidateQueries({ queryKey: ["phoneNumbers"] }),
  ]);
}

interface NewAccountProps {
  readonly vendors: readonly [Vendor, ...Vendor[]];
  readonly onClose: () => void;
}

function NewAccount({ vendors, onClose }: NewAccountProps) {
  const [chosen, setChosen] = useState<string>(vendors[0].vendor);
  const [values, setValues] = useState<Readonly<Record<string, string>>>({});
  const vendor = vendors.find((each) => each.vendor === chosen) ?? vendors[0];
  const { fields } = vendor;
  const add = useMutation({
    mutationFn: () => {
      const part = (name: "settings" | "credentials") =>
        Object.fromEntries(
          fields
            .filter((field) => field.part === name && (values[field.name] ?? "") !== "")
            .map((field) => [field.name, values[field.name] ?? ""]),
        );
      return answered(
        api.POST("/api/dashboard/telephony-accounts", {
          body: {
            vendor: vendor.vendor,
            name: phoneVendorName(chosen),
            settings: part("settings"),
            credentials: part("credentials"),
          },
        }),
      );
    },
    onSuccess: async () => {
      await refreshed();
      onClose();
    },
  });
  return (
    <FormDialog
      title="Add a telephony account"
      action="Add the account"
      isBusy={add.isPending}
      error={add.error}
      markedPaths={fields.map(({ part, name }) => `${part}.${name}`)}
      onSubmit={() => add.mutate()}
      onClose={onClose}
    >
      <SelectField
        label="Vendor"
        value={chosen}
        onChange={(value) => {
          setChosen(value);
          setValues({});
        }}
        options={vendors.map((each) => ({
          value: each.vendor,
          label: phoneVendorName(each.vendor),
        }))}
      />
      {fields.map(({ name, label, part, required, expected }) => (
        <TextField
          key={name}
          label={required ? label : `${label} (optional)`}
          hint={
            part === "credentials" ? "Encrypted, and never shown again." : `Expected: ${expected}.`
          }
          isLong={name === "privateKey"}
          type={part === "credentials" ? "password" : "text"}
          autoComplete="off"
          value={values[name] ?? ""}
          onChange={(value) => setValues({ ...values, [name]: value })}
          wrong={wordsOfFault(add.error, `${part}.${name}`)}
          required={required}
        />
      ))}
    </FormDialog>
  );
}

interface AccountCardProps {
  readonly account: Account;
  readonly agents: readonly Agent[];
  readonly mayChange: boolean;
}

function AccountCard({ account, agents, mayChange }: AccountCardProps) {
  const { id, vendor, name, webhookPath, canImport } = account;
  const [isListing, setListing] = useState(false);
  const path = { id };
  const tried = useMutation({
    mutationFn: () =>
      answered(api.POST("/api/dashboard/telephony-accounts/{id}/test", { params: { path } })),
  });
  return (
    <div className="stack tight" role="group" aria-label={`Account ${name}`}>
      <div className="row">
        <strong>
          <bdi>{name}</bdi>
        </strong>
        {name === phoneVendorName(vendor) ? null : (
          <span className="soft">{phoneVendorName(vendor)}</span>
        )}
        {mayChange ? (
          <>
            <button
              type="button"
              className="button"
              disabled={tried.isPending}
              onClick={() => tried.mutate()}
            >
              Test
            </button>
            {canImport ? (
              <button type="button" className="button" onClick={() => setListing(!isListing)}>
                {isListing ? "Close the list" : "Import numbers"}
              </button>
            ) : null}
            <ConfirmButton
              action="Delete"
              name={name}
              consequence="Numbers that were imported from it are released. Calls in progress finish."
              keep="Keep it"
              act={() =>
                answered(api.DELETE("/api/dashboard/telephony-accounts/{id}", { params: { path } }))
              }
              onDone={refreshed}
            />
          </>
        ) : null}
        <span role="status">{tried.data === undefined ? null : testWords(tried.data)}</span>
      </div>
      {tried.error === null ? null : <Fault error={tried.error} />}
      <p className="soft">
        Address for incoming calls: <code>{`${SERVER_URL}${webhookPath}`}</code>
      </p>
      {isListing ? <AccountNumbers id={id} agents={agents} /> : null}
    </div>
  );
}

function testWords({ ok, latencyMs, error }: Answered<"testTelephonyAccount">): string {
  return ok ? `It works: answered in ${latencyMs} ms.` : `It does not work: ${error}.`;
}

function AccountNumbers({ id, agents }: { id: string; agents: readonly Agent[] }) {
  const numbers = useAccountNumbers(id);
  const [agentId, setAgentId] = useState("");
  const take = useMutation({
    mutationFn: (number: string) => {
      const body = { number, agentId: agentId === "" ? null : agentId };
      const params = { path: { id } };
      return answered(api.POST("/api/dashboard/telephony-accounts/{id}/numbers", { params, body }));
    },
    onSettled: refreshed,
  });
  const options = [
    { value: "", label: "The first active agent" },
    ...agents.map(({ _id, name }) => ({ value: _id, label: name })),
  ];
  return (
    <Loaded query={numbers} what="The account’s numbers">
      {(all) =>
        all.length === 0 ? (
          <p className="soft">The account has no number.</p>
        ) : (
          <>
            <SelectField
              label="Imported numbers are answered by"
              value={agentId}
              onChange={setAgentId}
              options={options}
            />
            {take.error === null ? null : <Fault error={take.error} />}
            <div className="table">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Number</th>
                    <th scope="col" className="spare">
                      Name
                    </th>
                    <th scope="col">
                      <span className="hidden">Import</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {all.map(({ number, label, isImported }) => (
                    <tr key={number}>
                      <td>
                        <bdi>{number}</bdi>
                      </td>
                      <td className="spare soft">{label}</td>
                      <td className="number">
                        {isImported ? (
                          <span className="soft">imported</span>
                        ) : (
                          <button
                            type="button"
                            className="button"
                            aria-label={`Import ${number}`}
                            disabled={take.isPending}
                            onClick={() => take.mutate(number)}
                          >
                            Import
                          </button>
                        )}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          </>
        )
      }
    </Loaded>
  );
}
