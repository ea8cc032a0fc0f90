import { Link } from "wouter";
import { PageHead } from "../parts/page-head.js";
import { PlatformNodes } from "../parts/platform-nodes.js";
import { PlatformOrganizations } from "../parts/platform-organizations.js";

const TABS = [
  { id: "organizations", title: "Organizations", Content: PlatformOrganizations },
  { id: "servers", title: "Servers", Content: PlatformNodes },
] as const;

/** For operators: what is everybody's on this installation. */
export function PlatformPage({ tab }: { tab: string }) {
  const { id, Content } = TABS.find((each) => each.id === tab) ?? TABS[0];
  return (
    <>
      <PageHead title="Platform" about="Every organization and server of this installation." />
      <nav className="tabs" aria-label="Platform">
        {TABS.map((each) => (
          <Link
            key={each.id}
            href={`/platform/${each.id}`}
            aria-current={each.id === id ? "page" : undefined}
          >
            {each.title}
          </Link>
        ))}
      </nav>
      <Content />
    </>
  );
}
