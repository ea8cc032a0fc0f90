import { useMutation } from "@tanstack/react-query";
import { PhoneForwarded } from "lucide-react";
import { useState } from "react";
import { answered, api, wordsOfFault } from "../../model/api.js";
import { SelectField, TextField } from "../forms/field.js";
import { FormDialog } from "../forms/form-dialog.js";

/** What people write within a number. */
const WITHIN_NUMBER = /[\s()./-]/g;
const TARGET = /^(?:\+[1-9]\d{6,14}|sips?:[^\s@]+@[^\s@]+)$/i;
const TARGET_WORDS =
  "Expected a number with its country code, such as +15550100, or an address such as sip:desk@example.com.";

type Mode = "blind" | "warm";

const MODES: readonly { readonly value: Mode; readonly label: string }[] = [
  { value: "warm", label: "Ask the person first (warm)" },
  { value: "blind", label: "Hand the caller on (blind)" },
];

const MODE_HINTS: Readonly<Record<Mode, string>> = {
  warm: "The caller waits with music while the person is called, told what the call is about, and asked. If they do not accept, the caller is back with the agent.",
  blind:
    "The caller hears the person’s telephone ring. If no one answers, the caller is back with the agent.",
};

const ORDERED_WORDS: Readonly<Record<Mode, string>> = {
  warm: "The agent tells the caller, and the person is called",
  blind: "The agent tells the caller, and hands the call on",
};

/** A number as the server takes it; a SIP address stays as it is. */
function targetIn(text: string): string {
  const written = text.trim();
  return /^sips?:/i.test(written) ? written : written.replaceAll(WITHIN_NUMBER, "");
}

/** Has a person take over a telephone call in progress. */
export function TransferCall({ callId }: { callId: string }) {
  const [isAsking, setAsking] = useState(false);
  const [to, setTo] = useState("");
  const [mode, setMode] = useState<Mode>("warm");
  const [summary, setSummary] = useState("");
  const [isChecked, setChecked] = useState(false);
  const target = targetIn(to);
  const isTarget = TARGET.test(target);
  const transfer = useMutation({
    mutationFn: () => {
      const told = mode === "warm" && summary.trim() !== "" ? { summary: summary.trim() } : {};
      const body = { to: target, mode, ...told };
      const params = { path: { id: callId } };
      return answered(api.POST("/api/dashboard/calls/{id}/transfer", { params, body }));
    },
    onSuccess: () => setAsking(false),
  });
  const open = () => {
    transfer.reset();
    setChecked(false);
    setAsking(true);
  };
  const wrong = isChecked && !isTarget ? TARGET_WORDS : wordsOfFault(transfer.error, "to");
  return (
    <>
      <button type="button" className="button" onClick={open}>
        <PhoneForwarded size={16} aria-hidden /> Transfer the call
      </button>
      <span className={transfer.isSuccess ? "state live" : "hidden"} role="status">
        {transfer.isSuccess ? ORDERED_WORDS[mode] : ""}
      </span>
      {isAsking ? (
        <FormDialog
          title="Transfer this call"
          action="Transfer"
          isBusy={transfer.isPending}
          error={transfer.error}
          markedPaths={["to", "summary"]}
          onSubmit={() => {
            setChecked(true);
            if (isTarget && !transfer.isPending) transfer.mutate();
          }}
          onClose={() => setAsking(false)}
        >
          <TextField
            label="Transfer to"
            hint="A number such as +15550100, or an address such as sip:desk@example.com."
            value={to}
            onChange={setTo}
            wrong={wrong}
          />
          <SelectField
            label="How"
            hint={MODE_HINTS[mode]}
            value={mode}
            options={MODES}
            onChange={(value) => setMode(value === "blind" ? "blind" : "warm")}
          />
          {mode === "warm" ? (
            <TextField
              label="What the person is told (optional)"
              hint="Left empty, the agent’s LLM sums the call up."
              isLong
              value={summary}
              onChange={setSummary}
              wrong={wordsOfFault(transfer.error, "summary")}
            />
          ) : null}
        </FormDialog>
      ) : null}
    </>
  );
}
