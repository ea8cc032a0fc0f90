import { createContext, type ReactNode, useContext, useEffect, useRef, useState } from "react";
import type { AroundNavHandler } from "wouter";
import { BASE_PATH } from "../../model/server-address.js";
import { ConfirmDialog } from "./confirm-dialog.js";

type Guards = Set<symbol>;
const GuardsContext = createContext<Guards>(new Set());

/** Asks before a page is left on which something was changed and not saved. */
export function LeaveGuard({ children }: { children: (aroundNav: AroundNavHandler) => ReactNode }) {
  const guards = useRef<Guards>(new Set());
  const [leaving, setLeaving] = useState<() => void>();
  const aroundNav: AroundNavHandler = (navigate, to, options) => {
    if (guards.current.size === 0 || isSamePage(to)) navigate(to, options);
    else setLeaving(() => () => navigate(to, options));
  };
  return (
    <GuardsContext value={guards.current}>
      {children(aroundNav)}
      {leaving === undefined ? null : (
        <ConfirmDialog
          title="Leave without saving?"
          consequence="Your changes on this page are not saved."
          keep="Stay"
          action="Leave"
          onKeep={() => setLeaving(undefined)}
          onAct={() => {
            guards.current.clear();
            setLeaving(undefined);
            leaving();
          }}
        />
      )}
    </GuardsContext>
  );
}

/** Another tab of the same page keeps what was typed. */
function isSamePage(to: string): boolean {
  const [path = ""] = to.split("?");
  const { pathname } = location;
  return path === "" || path === pathname || `${BASE_PATH}/console${path}` === pathname;
}

/** While `isChanged`, leaving asks; closing the tab lets the browser ask. */
export function useLeaveGuard(isChanged: boolean): void {
  const guards = useContext(GuardsContext);
  useEffect(() => {
    if (!isChanged) return undefined;
    const guard = Symbol("changes");
    const onUnload = (event: BeforeUnloadEvent) => event.preventDefault();
    guards.add(guard);
    addEventListener("beforeunload", onUnload);
    return () => {
      guards.delete(guard);
      removeEventListener("beforeunload", onUnload);
    };
  }, [guards, isChanged]);
}
