/** How many of something each organization has; one that has none takes no memory. */
export class OrganizationCounts {
  readonly #counts = new Map<string, number>();

  /** The organizations that have some. */
  get orgIds(): readonly string[] {
    return [...this.#counts.keys()];
  }

  of(orgId: string): number {
    return this.#counts.get(orgId) ?? 0;
  }

  add(orgId: string): void {
    this.#counts.set(orgId, this.of(orgId) + 1);
  }

  /** Nothing where it has none. */
  remove(orgId: string): void {
    const left = this.of(orgId) - 1;
    if (left > 0) this.#counts.set(orgId, left);
    else this.#counts.delete(orgId);
  }
}
