/** The form in which e-mail addresses are stored and compared, since people type capitals and stray spaces. */
export function canonicalEmail(email: string): string {
  return email.trim().toLowerCase();
}
