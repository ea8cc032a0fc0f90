import { lazy, type ReactNode, Suspense, useSyncExternalStore } from "react";
import { Link, Route, Router, Switch, useLocation } from "wouter";
import { useMe } from "../model/queries.js";
import { BASE_PATH } from "../model/server-address.js";
import { onSession, shownPerson, signOut } from "../model/session.js";
import { AgentsPage } from "../pages/agents-page.js";
import { CallsPage } from "../pages/calls-page.js";
import { HomePage } from "../pages/home-page.js";
import { ProvidersPage } from "../pages/providers-page.js";
import { SignInPage } from "../pages/sign-in-page.js";
import { LeaveGuard } from "./forms/leave-guard.js";
import { PageHead } from "./page-head.js";
import { Shell } from "./shell.js";
import { Fault, Outline } from "./states.js";

/** An organization that was not let in yet sees what it waits for, and nothing else; an operator may look after the platform. */
export function PendingGate({ children }: { children: ReactNode }) {
  const me = useMe();
  const [location] = useLocation();
  const isOperator = me.data?.isOperator === true;
  if (me.data?.status === "active") return children;
  if (isOperator && location.startsWith("/platform")) return children;
  return (
    <main className="gate">
      <div className="card stack">
        {me.data === undefined ? null : (
          <>
            <h1>Almost there</h1>
            <p>
              {me.data.organization.name} waits to be activated by the people who run this server.
              On a server of your own, one command does it:
            </p>
            <code className="secret">npm run admin -- org activate {me.data.user.email}</code>
            <button type="button" className="button main" onClick={() => void me.refetch()}>
              Look again
            </button>
          </>
        )}
        {me.data === undefined && me.error === null ? <Outline lines={3} /> : null}
        {me.error === null ? null : <Fault error={me.error} retry={me.refetch} />}
        {isOperator ? (
          <Link className="button" href="/platform">
            Look after the platform
          </Link>
        ) : null}
        <button type="button" className="button plain" onClick={signOut}>
          Sign out
        </button>
      </div>
    </main>
  );
}

// What is large and not needed by most pages: the editor, charts, the waveform.
const AgentPage = lazy(async () => ({
  default: (await import("../pages/agent-page.js")).AgentPage,
}));
const CallListsPage = lazy(async () => ({
  default: (await import("../pages/call-lists-page.js")).CallListsPage,
}));
const CallListPage = lazy(async () => ({
  default: (await import("../pages/call-list-page.js")).CallListPage,
}));
const CallPage = lazy(async () => ({ default: (await import("../pages/call-page.js")).CallPage }));
const UsagePage = lazy(async () => ({
  default: (await import("../pages/usage-page.js")).UsagePage,
}));
const KnowledgePage = lazy(async () => ({
  default: (await import("../pages/knowledge-page.js")).KnowledgePage,
}));
const NumbersPage = lazy(async () => ({
  default: (await import("../pages/numbers-page.js")).NumbersPage,
}));
const PlatformPage = lazy(async () => ({
  default: (await import("../pages/platform-page.js")).PlatformPage,
}));
const PlatformOrganizationPage = lazy(async () => ({
  default: (await import("../pages/platform-organization-page.js")).PlatformOrganizationPage,
}));
const SettingsPage = lazy(async () => ({
  default: (await import("../pages/settings-page.js")).SettingsPage,
}));
const WebhookPage = lazy(async () => ({
  default: (await import("../pages/webhook-page.js")).WebhookPage,
}));
const StartPage = lazy(async () => ({
  default: (await import("../pages/start-page.js")).StartPage,
}));
const TalkPage = lazy(async () => ({ default: (await import("../pages/talk-page.js")).TalkPage }));

export const CONSOLE_PATH = `${BASE_PATH}/console`;

export function App() {
  const person = useSyncExternalStore(onSession, shownPerson);
  return (
    <LeaveGuard>
      {(aroundNav) => (
        <Router base={CONSOLE_PATH} aroundNav={aroundNav}>
          {person === undefined ? <SignInPage /> : <SignedIn key={person} />}
        </Router>
      )}
    </LeaveGuard>
  );
}

function SignedIn() {
  return (
    <PendingGate>
      <Shell>
        <Suspense fallback={<Outline lines={6} />}>
          <Pages />
        </Suspense>
      </Shell>
    </PendingGate>
  );
}

function Pages() {
  return (
    <Switch>
      <Route path="/" component={HomePage} />
      <Route path="/agents" component={AgentsPage} />
      <Route path="/agents/:id">{({ id }) => <AgentPage key={id} id={id} />}</Route>
      <Route path="/calls" component={CallsPage} />
      <Route path="/calls/:id">{({ id }) => <CallPage key={id} id={id} />}</Route>
      <Route path="/call-lists" component={CallListsPage} />
      <Route path="/call-lists/:id">{({ id }) => <CallListPage key={id} id={id} />}</Route>
      <Route path="/knowledge" component={KnowledgePage} />
      <Route path="/numbers" component={NumbersPage} />
      <Route path="/providers" component={ProvidersPage} />
      <Route path="/usage" component={UsagePage} />
      <Route path="/settings/webhooks/:id">{({ id }) => <WebhookPage key={id} id={id} />}</Route>
      <Route path="/settings/:tab?">{({ tab }) => <SettingsPage tab={tab ?? "keys"} />}</Route>
      <Route path="/platform/organizations/:id">
        {({ id }) => <PlatformOrganizationPage key={id} id={id} />}
      </Route>
      <Route path="/platform/:tab?">
        {({ tab }) => <PlatformPage tab={tab ?? "organizations"} />}
      </Route>
      <Route path="/start/:id?">{({ id }) => <StartPage agentId={id} />}</Route>
      <Route path="/talk/:id?">{({ id }) => <TalkPage agentId={id} />}</Route>
      <Route>
        <PageHead title="No such page" about="This address does not exist, or no longer exists.">
          <Link className="button main" href="/">
            Home
          </Link>
        </PageHead>
      </Route>
    </Switch>
  );
}
