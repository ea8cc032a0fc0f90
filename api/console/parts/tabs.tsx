import { useEffect, useRef } from "react";
import { Link } from "wouter";

interface TabsProps {
  /** What the tabs are of, for screen readers. */
  readonly label: string;
  readonly tabs: readonly { readonly id: string; readonly title: string }[];
  readonly currentId: string;
  readonly addressOf: (id: string) => string;
  /** Tabs in which something is wrong. */
  readonly faultyIds?: readonly string[];
}

/** Links to the parts of a page. On a narrow screen the row scrolls, and the current tab is in sight. */
export function Tabs({ label, tabs, currentId, addressOf, faultyIds = [] }: TabsProps) {
  const row = useRef<HTMLElement>(null);
  useEffect(() => {
    const current = row.current?.querySelector<HTMLElement>("[aria-current]");
    if (row.current === null || current === null || current === undefined) return;
    // Scrolls the row alone: `scrollIntoView` would move the page, too.
    row.current.scrollLeft =
      current.offsetLeft -
      row.current.offsetLeft -
      (row.current.clientWidth - current.offsetWidth) / 2;
  }, [currentId]);
  return (
    <nav className="tabs" aria-label={label} ref={row}>
      {tabs.map(({ id, title }) => (
        <Link
          key={id}
          href={addressOf(id)}
          aria-current={id === currentId ? "page" : undefined}
          className={faultyIds.includes(id) ? "faulty" : ""}
        >
          {title}
          {faultyIds.includes(id) ? <span className="hidden"> (has an error)</span> : null}
        </Link>
      ))}
    </nav>
  );
}
