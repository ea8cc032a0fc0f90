import { Link } from "wouter";
import { PageHead } from "../parts/page-head.js";
import { AuditTab } from "./audit-tab.js";
import { KeysTab } from "./keys-tab.js";
import { OrganizationTab } from "./organization-tab.js";

const TABS = [
  { id: "keys", title: "API keys", Content: KeysTab },
  { id: "organization", title: "Organization", Content: OrganizationTab },
  { id: "audit", title: "Who changed what", Content: AuditTab },
] as const;

export function SettingsPage({ tab }: { tab: string }) {
  const { id, Content } = TABS.find((each) => each.id === tab) ?? TABS[0];
  return (
    <>
      <PageHead title="Settings" />
      <nav className="tabs" aria-label="Settings">
        {TABS.map((each) => (
          <Link
            key={each.id}
            href={`/settings/${each.id}`}
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
