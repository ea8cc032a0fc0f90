import { ArrowDown, ArrowUp, Trash2 } from "lucide-react";
import { type ReactNode, useEffect, useId, useRef, useState } from "react";

interface OrderedListProps<Item> {
  readonly items: readonly Item[];
  readonly onChange: (items: readonly Item[]) => void;
  /** What one is called, for who does not see where it stands. */
  readonly nameOf: (item: Item, index: number) => string;
  readonly children: (item: Item, index: number, change: (item: Item) => void) => ReactNode;
  /** The order means something. */
  readonly isOrdered?: boolean;
}

type Move = "up" | "down";

/** A list whose order people change, also by keyboard: the focus goes along with what is moved. */
export function OrderedList<Item>(props: OrderedListProps<Item>) {
  const { items, onChange, nameOf, children, isOrdered = true } = props;
  const id = useId();
  const list = useRef<HTMLOListElement>(null);
  const keys = useKeys(items.length);
  const [announcement, setAnnouncement] = useState("");
  const [focus, setFocus] = useState<{ readonly key: number; readonly move: Move }>();
  useEffect(() => {
    if (focus === undefined) return;
    const buttonOf = (move: Move) =>
      list.current?.querySelector<HTMLButtonElement>(`#${CSS.escape(idOf(id, focus.key, move))}`);
    const wanted = buttonOf(focus.move);
    const other = buttonOf(focus.move === "up" ? "down" : "up");
    (wanted?.disabled === false ? wanted : other)?.focus();
  }, [focus, id]);
  const moveTo = (from: number, to: number, move: Move) => {
    const item = items[from];
    const key = keys.list[from];
    if (item === undefined || key === undefined) return;
    keys.move(from, to);
    onChange(items.toSpliced(from, 1).toSpliced(to, 0, item));
    setFocus({ key, move });
    setAnnouncement(`${nameOf(item, to)} is now ${to + 1} of ${items.length}.`);
  };
  const remove = (index: number, item: Item) => {
    keys.remove(index);
    onChange(items.toSpliced(index, 1));
    setAnnouncement(`${nameOf(item, index)} was removed.`);
    list.current?.focus();
  };
  return (
    <>
      <ol className="ordered" ref={list} tabIndex={-1}>
        {items.map((item, index) => {
          const key = keys.list[index] ?? index;
          const name = nameOf(item, index);
          return (
            <li key={key} className="stack tight">
              {children(item, index, (changed) => onChange(items.with(index, changed)))}
              <PlaceButtons
                id={id}
                name={name}
                itemKey={key}
                index={index}
                count={isOrdered ? items.length : 0}
                onMove={(to, move) => moveTo(index, to, move)}
                onRemove={() => remove(index, item)}
              />
            </li>
          );
        })}
      </ol>
      <p className="quiet" role="status">
        {announcement}
      </p>
    </>
  );
}

interface PlaceButtonsProps {
  readonly id: string;
  readonly itemKey: number;
  readonly name: string;
  readonly index: number;
  /** How many places there are; 0 where the order means nothing. */
  readonly count: number;
  readonly onMove: (to: number, move: Move) => void;
  readonly onRemove: () => void;
}

function PlaceButtons(props: PlaceButtonsProps) {
  const { id, itemKey, name, index, count, onMove, onRemove } = props;
  return (
    <div className="row end">
      {count === 0 ? null : (
        <>
          <button
            type="button"
            id={idOf(id, itemKey, "up")}
            className="button square"
            aria-label={`Move ${name} up`}
            disabled={index === 0}
            onClick={() => onMove(index - 1, "up")}
          >
            <ArrowUp size={16} aria-hidden />
          </button>
          <button
            type="button"
            id={idOf(id, itemKey, "down")}
            className="button square"
            aria-label={`Move ${name} down`}
            disabled={index === count - 1}
            onClick={() => onMove(index + 1, "down")}
          >
            <ArrowDown size={16} aria-hidden />
          </button>
        </>
      )}
      <button
        type="button"
        className="button square"
        aria-label={`Remove ${name}`}
        onClick={onRemove}
      >
        <Trash2 size={16} aria-hidden />
      </button>
    </div>
  );
}

function idOf(id: string, key: number, move: Move): string {
  return `${id}${key}${move}`;
}

/** One for each item, which goes along with it: what is typed in an item must not stay behind at its place. */
function useKeys(count: number) {
  const [state, setState] = useState<{ readonly list: readonly number[]; readonly next: number }>({
    list: [],
    next: 0,
  });
  const { list, next } = state;
  const missing = Math.max(0, count - list.length);
  const grown = [...list, ...Array.from({ length: missing }, (_, index) => next + index)];
  const all = grown.slice(0, count);
  const set = (changed: readonly number[]) =>
    setState({ list: changed, next: Math.max(next, next + missing) });
  return {
    list: all,
    move: (from: number, to: number) => {
      const key = all[from];
      if (key !== undefined) set(all.toSpliced(from, 1).toSpliced(to, 0, key));
    },
    remove: (index: number) => set(all.toSpliced(index, 1)),
  };
}
