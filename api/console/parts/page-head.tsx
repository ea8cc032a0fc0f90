import { type ReactNode, useEffect } from "react";

interface PageHeadProps {
  readonly title: string;
  readonly about?: ReactNode;
  readonly children?: ReactNode;
}

/** The head of every page; the tab is called as the page. */
export function PageHead({ title, about, children }: PageHeadProps) {
  useEffect(() => {
    document.title = `${title} · Parley`;
  }, [title]);
  return (
    <header className="page-head">
      <div>
        <h1 title={title}>{title}</h1>
        {about === undefined ? null : <p className="soft">{about}</p>}
      </div>
      {children}
    </header>
  );
}
