/** A list as people type it: an entry per line, with the time at which it ends, and a comment after #. */
export interface Entries {
  ips: string[];
  expires: { ip: string; at: string }[];
}

const line = /^(?<ip>.+?)(?:\s+(?<until>\d{4}-\d{2}-\d{2}(?:T[\d:.]+Z?)?))?$/;

export function readEntries(lines: readonly string[]): Entries {
  const entries: Entries = { ips: [], expires: [] };
  for (const text of lines) {
    const { ip = '', until } = line.exec(text.replace(/\s*#.*$/, '').trim())?.groups ?? {};
    if (ip === '') continue;
    entries.ips.push(ip);
    const at = until === undefined ? null : new Date(until);
    if (at && !Number.isNaN(at.getTime())) entries.expires.push({ ip, at: at.toISOString() });
  }
  return entries;
}

export function writeEntries({ ips, expires }: Entries): string[] {
  const ends = new Map(expires.map(({ ip, at }) => [ip, at]));
  return ips.map((ip) => {
    const at = ends.get(ip);
    return at === undefined ? ip : `${ip} ${at}`;
  });
}
