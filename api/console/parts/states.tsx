import { type ReactNode, useSyncExternalStore } from "react";
import { ApiError, SessionOverError } from "../model/api.js";
import { isSessionOver, onSession } from "../model/session.js";

/** A page that is still empty: what it is for, and the one next step. */
export function Empty({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className="empty">
      <h2>{title}</h2>
      {children}
    </div>
  );
}

interface OutlineProps {
  readonly lines: number;
  /** In pixels. */
  readonly height?: number;
  /** Beside each other where there is room. */
  readonly isTiles?: boolean;
}

/** The place that a page's content will take. */
export function Outline({ lines, height = 44, isTiles = false }: OutlineProps) {
  return (
    <div className={isTiles ? "tiles" : "stack tight"} role="status" aria-label="Loading">
      {Array.from({ length: lines }, (_, index) => (
        <span key={index} className="bone" style={{ height }} />
      ))}
    </div>
  );
}

interface FaultProps {
  readonly error: unknown;
  readonly retry?: (() => unknown) | undefined;
  /** What is missing for it, where the page does not say. */
  readonly what?: string | undefined;
  /** Fields that say themselves what is wrong with them: it is not said twice. */
  readonly markedPaths?: readonly string[];
}

const MARKED = "Check what is marked, and try again.";

export function Fault({ error, retry, what, markedPaths = [] }: FaultProps) {
  const isOver = useSyncExternalStore(onSession, isSessionOver);
  const isMarked =
    error instanceof ApiError &&
    error.details.length > 0 &&
    error.details.every(({ path }) => markedPaths.includes(path));
  const isPast = error instanceof SessionOverError && !isOver;
  return (
    <div className="note fault row" role="alert">
      <span>
        {what === undefined ? "" : `${what} could not be loaded. `}
        {isMarked ? MARKED : isPast ? "You are signed in again: try again." : faultWords(error)}
      </span>
      {retry === undefined ? null : (
        <button type="button" className="button" onClick={() => void retry()}>
          Try again
        </button>
      )}
    </div>
  );
}

export function faultWords(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  return "Something went wrong on this page. Reload it.";
}

interface LoadedProps<Data> {
  readonly query: {
    readonly data: Data | undefined;
    readonly error: Error | null;
    readonly refetch: () => unknown;
  };
  readonly outline?: ReactNode;
  /** Named where it could not be loaded, on a page that has several such parts. */
  readonly what?: string;
  /** Stands above the outline and above what went wrong, where the content brings a head of its own. */
  readonly head?: ReactNode;
  /** Where to go when there is no such thing: asking again would not find it. */
  readonly notFoundContent?: ReactNode;
  readonly children: (data: Data) => ReactNode;
}

/** Asking again would be refused again. */
const FORBIDDEN = 403;

/** What was loaded, the outline of it, or what went wrong. Data that is there stays when it cannot be renewed. */
export function Loaded<Data>(props: LoadedProps<Data>) {
  const { query, outline = <Outline lines={4} />, what, head, notFoundContent, children } = props;
  const { data, error, refetch } = query;
  if (data !== undefined) return children(data);
  const status = error instanceof ApiError ? error.status : undefined;
  const isMissing = status === 404;
  const isFinal = status === FORBIDDEN || (isMissing && notFoundContent !== undefined);
  const retry = isFinal ? undefined : refetch;
  return (
    <>
      {head}
      {error === null ? outline : <Fault error={error} retry={retry} what={what} />}
      {isMissing ? <div>{notFoundContent}</div> : null}
    </>
  );
}
