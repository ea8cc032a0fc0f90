import { useMutation } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { answered, api, wordsOfFault } from "../model/api.js";
import { queryClient, useDoNotCall } from "../model/queries.js";
import { ConfirmButton } from "../parts/forms/confirm-dialog.js";
import { TextField } from "../parts/forms/field.js";
import { ShowMore } from "../parts/show-more.js";
import { Fault, Loaded } from "../parts/states.js";

/** What people write between numbers of a list. */
const BETWEEN_NUMBERS = /[\s,;]*[\n,;][\s,;]*/;
/** What people write within a number. */
const WITHIN_NUMBER = /[\s()./-]/g;

function refreshed() {
  return queryClient.invalidateQueries({ queryKey: ["doNotCall"] });
}

/** The organization's do-not-call list, in which numbers are added, looked at and removed. */
export function DoNotCall() {
  const pages = useDoNotCall();
  return (
    <>
      <p className="soft">Agents place no calls to these numbers.</p>
      <AddNumbers />
      <Loaded query={pages} what="The do-not-call list">
        {(data) => {
          const numbers = data.pages.flatMap((page) => page.numbers);
          if (numbers.length === 0) return <p className="soft">No number is on the list.</p>;
          return (
            <>
              <div className="table">
                <table>
                  <thead>
                    <tr>
                      <th scope="col">Number</th>
                      <th scope="col">Note</th>
                      <th scope="col">
                        <span className="hidden">Remove</span>
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {numbers.map(({ number, note }) => (
                      <tr key={number}>
                        <td>
                          <bdi>{number}</bdi>
                        </td>
                        <td className="soft">{note ?? ""}</td>
                        <td className="number">
                          <RemoveNumber number={number} />
                        </td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
              <ShowMore pages={pages} />
            </>
          );
        }}
      </Loaded>
    </>
  );
}

function AddNumbers() {
  const [text, setText] = useState("");
  const [note, setNote] = useState("");
  const add = useMutation({
    mutationFn: () => {
      const numbers = text
        .split(BETWEEN_NUMBERS)
        .map((each) => each.replaceAll(WITHIN_NUMBER, ""))
        .filter((each) => each !== "");
      const body = { numbers, note: note === "" ? null : note };
      return answered(api.POST("/api/dashboard/do-not-call", { body }));
    },
    onSuccess: async () => {
      await refreshed();
      setText("");
      setNote("");
    },
  });
  const onSubmit = (event: FormEvent) => {
    event.preventDefault();
    if (!add.isPending) add.mutate();
  };
  return (
    <form className="stack" onSubmit={onSubmit}>
      <TextField
        label="Numbers that are not to be called"
        hint="One per line, with the country code, such as +15550100."
        isLong
        value={text}
        onChange={setText}
        wrong={wordsOfFault(add.error, "numbers")}
      />
      <TextField label="Note (optional)" value={note} onChange={setNote} />
      {add.error === null ? null : <Fault error={add.error} />}
      <div className="row">
        <button type="submit" className="button" disabled={add.isPending || text.trim() === ""}>
          Add to the list
        </button>
        <span role="status">
          {add.data === undefined ? null : `${add.data.total} on the list now.`}
        </span>
      </div>
    </form>
  );
}

function RemoveNumber({ number }: { number: string }) {
  return (
    <ConfirmButton
      action="Remove"
      name={number}
      consequence="Agents may call it again."
      keep="Keep it"
      act={() => {
        const params = { path: { id: number } };
        return answered(api.DELETE("/api/dashboard/do-not-call/{id}", { params }));
      }}
      onDone={refreshed}
    />
  );
}
