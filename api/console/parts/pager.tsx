import { Link } from "wouter";

interface PagerProps {
  /** What there is more of. */
  readonly label: string;
  /** The page, without what stands behind a question mark. */
  readonly address: string;
  /** Filters that stay as they are. */
  readonly search: URLSearchParams;
  readonly perPage: number;
  /** Newest first. */
  readonly shown: {
    readonly skip: number;
    readonly items: readonly unknown[];
    readonly total: number;
  };
}

/** Where one is in a long list, and the way to its other pages. */
export function Pager({ label, address, search, perPage, shown }: PagerProps) {
  const { skip, items, total } = shown;
  const page = Math.floor(skip / perPage) + 1;
  const at = (other: number) => pageAddress(address, search, other);
  const last = skip + items.length;
  return (
    <nav className="row" aria-label={label}>
      <span className="soft" role="status">
        {items.length === 0 ? "None here" : `${grouped(skip + 1)} to ${grouped(last)}`} of{" "}
        {grouped(total)}
      </span>
      {page === 1 ? null : (
        <Link className="button" href={at(page - 1)}>
          Newer
        </Link>
      )}
      {last >= total ? null : (
        <Link className="button" href={at(page + 1)}>
          Older
        </Link>
      )}
    </nav>
  );
}

interface StepsProps extends Omit<PagerProps, "shown"> {
  readonly shown: {
    readonly skip: number;
    readonly items: readonly unknown[];
    readonly hasMore: boolean;
  };
}

/** As `Pager`, for a list whose length is not known. */
export function Steps({ label, address, search, perPage, shown }: StepsProps) {
  const { skip, items, hasMore } = shown;
  if (skip === 0 && !hasMore) return null;
  const page = Math.floor(skip / perPage) + 1;
  return (
    <nav className="row" aria-label={label}>
      <span className="soft" role="status">
        {items.length === 0
          ? "None here"
          : `${grouped(skip + 1)} to ${grouped(skip + items.length)}`}
      </span>
      {page === 1 ? null : (
        <Link className="button" href={pageAddress(address, search, page - 1)}>
          Newer
        </Link>
      )}
      {hasMore ? (
        <Link className="button" href={pageAddress(address, search, page + 1)}>
          Older
        </Link>
      ) : null}
    </nav>
  );
}

function pageAddress(address: string, search: URLSearchParams, page: number): string {
  const next = new URLSearchParams(search);
  next.set("page", String(page));
  return `${address}?${next.toString()}`;
}

function grouped(count: number): string {
  return count.toLocaleString();
}
