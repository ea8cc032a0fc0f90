const DISMISSED_KEY = "parley.guideDismissed";

/** Whether the person has closed the guide of this organization in this browser. */
export function isGuideDismissed(organizationId: string): boolean {
  return localStorage.getItem(`${DISMISSED_KEY}.${organizationId}`) !== null;
}

export function dismissGuide(organizationId: string): void {
  localStorage.setItem(`${DISMISSED_KEY}.${organizationId}`, "yes");
}
