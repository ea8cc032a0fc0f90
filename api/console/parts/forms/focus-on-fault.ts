import { type RefObject, useEffect, useRef } from "react";

/** Scrolls to the first field that the server refused and focuses it, once for each answer. `isReady`: the field is in the page. */
export function useFocusOnFault(
  form: RefObject<HTMLElement | null>,
  error: Error | null,
  isReady = true,
): void {
  const shown = useRef<Error>(null);
  useEffect(() => {
    if (error === null || error === shown.current || !isReady) return;
    shown.current = error;
    const field = form.current?.querySelector<HTMLElement>("[aria-invalid=true]");
    field?.scrollIntoView({ block: "center" });
    field?.focus({ preventScroll: true });
  });
}
