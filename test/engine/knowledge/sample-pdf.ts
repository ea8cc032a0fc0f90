/** A PDF with one page per text; an empty text gives a page without words, like a scan. */
export function pdf(pages: readonly string[], trailer = ""): Buffer {
  const kids = pages.map((_text, index) => `${4 + index * 2} 0 R`).join(" ");
  const objects = [
    "<< /Type /Catalog /Pages 2 0 R >>",
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ...pages.flatMap((text, index) => {
      const content = text === "" ? "" : `BT /F1 12 Tf 72 720 Td (${text}) Tj ET`;
      return [
        `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + index * 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
        `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
      ];
    }),
  ];
  const parts = ["%PDF-1.4\n"];
  const offsets: number[] = [];
  let length = parts[0]?.length ?? 0;
  for (const [index, object] of objects.entries()) {
    const part = `${index + 1} 0 obj\n${object}\nendobj\n`;
    offsets.push(length);
    length += part.length;
    parts.push(part);
  }
  const rows = offsets.map((offset) => `${String(offset).padStart(10, "0")} 00000 n \n`).join("");
  parts.push(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`);
  parts.push(
    `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R ${trailer}>>\nstartxref\n${length}\n%%EOF`,
  );
  return Buffer.from(parts.join(""), "latin1");
}

/** A PDF with a password that is not empty. */
export function encryptedPdf(): Buffer {
  const key = "00".repeat(32);
  return pdf(
    ["secret words"],
    `/Encrypt << /Filter /Standard /V 1 /R 2 /O <${key}> /U <${key}> /P -4 >> /ID [<00> <00>] `,
  );
}
