import { TabbedPage } from "../parts/tabbed-page.js";
import { AuditTab } from "./audit-tab.js";
import { KeysTab } from "./keys-tab.js";
import { MembersTab } from "./members-tab.js";
import { OrganizationTab } from "./organization-tab.js";

const TABS = [
  { id: "keys", title: "API keys", Content: KeysTab },
  { id: "members", title: "Members", Content: MembersTab },
  { id: "organization", title: "Organization", Content: OrganizationTab },
  { id: "audit", title: "Changes", Content: AuditTab },
] as const;

export function SettingsPage({ tab }: { tab: string }) {
  return <TabbedPage title="Settings" address="/settings" tabs={TABS} tab={tab} />;
}
