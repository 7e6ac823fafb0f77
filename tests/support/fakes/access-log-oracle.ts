// Computes statistics of given lines of access logs in plain loops over all of them, by the rules of
// docs/statistics.md. It imports nothing of the product, so that both cannot share a mistake.

export interface SentLine {
  /** Seconds since 1970 by the node's clock. */
  time: number;
  id: string;
  site: string;
  domain: string;
  host: string;
  address: string;
  method: string;
  httpVersion: string;
  uri: string;
  status: number;
  bytes: number;
  upstream: string;
  cache: string;
  referer: string;
  cause: string;
  rule: string;
  /** Set on a relay, whose edge node logs the same request. */
  relayed?: true;
}

export interface SentBatch {
  zone: string;
  /** The sites of this zone. */
  sites: ReadonlySet<string>;
  lines: readonly SentLine[];
  /** By the node's clock, in milliseconds since 1970. */
  sentAt: number;
  receivedAt: number;
}

export interface CountedLine extends SentLine {
  /** Milliseconds since 1970, by the control plane's clock. */
  at: number;
  zone: string;
}

export interface Place {
  country: string;
  province: string;
  isp: string;
}

/** The lines that count, each with its time and the site or zone for which it counts. */
export function countedLines(batches: readonly SentBatch[]): CountedLine[] {
  const counted: CountedLine[] = [];
  for (const { zone, sites, lines, sentAt, receivedAt } of batches)
    for (const line of lines) {
      if (line.relayed) continue;
      const skew = receivedAt - sentAt;
      let at = Math.round(line.time * 1000);
      if (skew > 2000 || skew < -2000) at += skew;
      if (at > receivedAt) at = receivedAt;
      counted.push({ ...line, at, zone, site: sites.has(line.site) ? line.site : zone });
    }
  return counted.sort((a, b) => a.at - b.at);
}

export const within = (lines: readonly CountedLine[], from: number, to: number): CountedLine[] =>
  lines.filter(({ at }) => at >= from && at < to);

export const isRefusedByRule = ({ cause, rule, status }: SentLine) => {
  // The site is at its limit, and the visitor did nothing wrong.
  if (cause === 'siteLimits') return false;
  if (cause === '' || rule.slice(0, 8) === 'monitor/') return false;
  // Redirects and responses are no refusals, and neither are visitors who leave.
  return status >= 400 && status !== 499;
};
export const isBlocked = (line: SentLine) => line.status > 899 || isRefusedByRule(line);

export type Weight = (line: CountedLine) => number;
export type OracleSums = ReturnType<typeof sumsOf>;

export function sumsOf(lines: Iterable<CountedLine>, weightOf: Weight = () => 1) {
  const sums = { requests: 0, bytes: 0, hits: 0, toUpstream: 0, ipv6: 0, blocked: 0, errors: 0 };
  const classes = { 2: 0, 3: 0, 4: 0, 5: 0, 9: 0 };
  for (const line of lines) {
    const weight = weightOf(line);
    const { status, cache, upstream, bytes, address } = line;
    sums.requests += weight;
    sums.bytes += bytes * weight;
    if (['HIT', 'STALE', 'UPDATING', 'REVALIDATED'].includes(cache)) sums.hits += weight;
    if (upstream !== '' || cache === 'REVALIDATED') sums.toUpstream += weight;
    if (address.includes(':')) sums.ipv6 += weight;
    if (isBlocked(line)) sums.blocked += weight;
    for (const first of [2, 3, 4, 5, 9] as const)
      if (status >= first * 100 && status < first * 100 + 100) classes[first] += weight;
  }
  sums.errors = classes[4] + classes[5] + classes[9];
  return { ...sums, classes };
}

/** The sums of steps that begin at these times. The lines are sorted by time. */
export function stepsOf(lines: readonly CountedLine[], starts: readonly number[], end: number): OracleSums[] {
  let next = lines.findIndex(({ at }) => at >= (starts[0] ?? end));
  return starts.map((_, i) => {
    const inStep: CountedLine[] = [];
    for (let line = lines[next]; line !== undefined && line.at < (starts[i + 1] ?? end); line = lines[(next += 1)])
      inStep.push(line);
    return sumsOf(inStep);
  });
}

export const topKinds = [
  'country',
  'province',
  'isp',
  'status',
  'address',
  'url',
  'referer',
  'method',
  'httpVersion',
  'blacklist',
  'wafRule',
  'wafMonitored',
] as const;
export type TopKind = (typeof topKinds)[number];

/** Empty: the line has no such value. */
export function valueOf(line: SentLine, kind: TopKind, locate: (address: string) => Place): string {
  const { status, cause, rule, address, method, httpVersion, host, uri, referer } = line;
  if (kind === 'country' || kind === 'province' || kind === 'isp') return locate(address)[kind];
  if (kind === 'status') return `${status}`;
  if (kind === 'url') return stored(host + uri);
  if (kind === 'referer') return stored(/^[^?#]*/.exec(referer)?.[0] ?? '');
  if (kind === 'blacklist') return isRefusedByRule(line) ? cause : '';
  if (kind === 'wafRule') return isRefusedByRule(line) && cause === 'waf' ? rule : '';
  if (kind === 'wafMonitored')
    return cause === 'waf' && rule.startsWith('monitor/') ? rule.replace('monitor/', '') : '';
  return { address, method, httpVersion }[kind];
}

/** At most 512 characters, as the database counts them, and none that it cannot store. */
const stored = (text: string) => [...text].slice(0, 512).join('').replaceAll('\0', '\uFFFD');

/** Requests and bytes by value, sorted by value. */
export function topOf(
  lines: readonly CountedLine[],
  valueOf: (line: CountedLine) => string,
  weightOf: Weight = () => 1,
) {
  const counts = new Map<string, { value: string; requests: number; bytes: number; error: number }>();
  for (const line of lines) {
    const value = valueOf(line);
    if (value === '') continue;
    const count = counts.get(value) ?? { value, requests: 0, bytes: 0, error: 0 };
    counts.set(value, count);
    count.requests += weightOf(line);
    count.bytes += line.bytes * weightOf(line);
  }
  return [...counts.values()].sort((a, b) => (a.value < b.value ? -1 : 1));
}

/** Lines by site and domain: those of removed domains of a site are one group, and those without a domain another. */
export function rankGroups(lines: readonly CountedLine[], siteOfDomain: ReadonlyMap<string, string>) {
  const groups = new Map<string, CountedLine[]>();
  for (const line of lines) {
    const kind = line.domain === '' ? 'none' : siteOfDomain.get(line.domain) === line.site ? line.domain : 'removed';
    const key = `${line.site} ${kind}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [line]);
    else group.push(line);
  }
  return groups;
}

/** The averages of five minutes without their highest twentieth; of those that remain, the highest. */
export function percentile95(bytesOfSteps: readonly number[]): number | null {
  const sorted = [...bytesOfSteps].sort((a, b) => a - b);
  for (let left = Math.floor(sorted.length / 20); left > 0; left -= 1) sorted.pop();
  const bytes = sorted.at(-1);
  return bytes === undefined ? null : (bytes * 8) / 300;
}
