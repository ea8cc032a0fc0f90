/** The form in which e-mail addresses are stored and compared: people type them with capitals and stray blanks. */
export function canonicalEmail(email: string): string {
  return email.trim().toLowerCase();
}
