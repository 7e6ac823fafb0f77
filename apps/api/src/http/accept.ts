// Which of its two forms a response has: JSON, or CSV if the header Accept names it with no lower quality.

export function prefersCsv(accept = ''): boolean {
  const csv = qualityOf(accept, 'text/csv');
  return csv > 0 && csv >= qualityOf(accept, 'application/json');
}

/** RFC 9110: 1 unless it says otherwise. 0: not named. Wildcards name no form. */
function qualityOf(accept: string, type: string): number {
  for (const range of accept.toLowerCase().split(',')) {
    const [name = '', ...parameters] = range.split(';').map((part) => part.trim());
    if (name !== type) continue;
    const quality = parameters.find((parameter) => parameter.startsWith('q='));
    return quality === undefined ? 1 : Number(quality.slice(2)) || 0;
  }
  return 0;
}
