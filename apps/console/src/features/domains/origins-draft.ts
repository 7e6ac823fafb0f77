// Draft of the origins tab: differences from the live values, as text and as calls.
import type { domains, domainUpstreams } from '@edgeloom/contract/domains/domains.endpoints.ts';
import { DomainUpdate, HttpsInput, UpstreamInput } from '@edgeloom/contract/domains/domains.ts';
import type { Received, Sent } from '@edgeloom/contract/endpoint.ts';
import type { Origin } from '../../components/origins/origins.ts';
import type { T, Word } from '../../lib/i18n.ts';
import { issuesOf, type Issue } from '../../lib/schema.ts';

export type Domain = Received<typeof domains.get>;
export type Scheme = Domain['scheme'];
export type PortMap = Domain['portMap'];

export interface Draft {
  scheme: Scheme;
  portMap: PortMap;
  hashType: Domain['hashType'];
  /** Empty: the visitor's Host header. */
  hostReplace: string;
  /** Empty: same as the Host header. */
  sni: string;
  maxFails: number;
  failTimeoutSeconds: number;
  connectTimeoutSeconds: number;
  readTimeoutSeconds: number;
  websocketTimeoutSeconds: number;
  slowStartSeconds: number;
  healthCheck: HealthCheck | null;
  origins: Origin[];
}
export type HealthCheck = NonNullable<Domain['healthCheck']>;

/** Defaults of an enabled health check. */
export const usualCheck: HealthCheck = {
  path: '/',
  host: null,
  intervalSeconds: 10,
  timeoutSeconds: 5,
  statusFrom: 200,
  statusTo: 399,
  fails: 3,
  passes: 2,
};

export const draftOf = (domain: Domain): Draft => ({
  scheme: domain.scheme,
  portMap: domain.portMap,
  hashType: domain.hashType,
  hostReplace: domain.hostReplace ?? '',
  sni: domain.sni ?? '',
  maxFails: domain.maxFails,
  failTimeoutSeconds: domain.failTimeoutSeconds,
  connectTimeoutSeconds: domain.connectTimeoutSeconds,
  readTimeoutSeconds: domain.readTimeoutSeconds,
  websocketTimeoutSeconds: domain.websocketTimeoutSeconds,
  slowStartSeconds: domain.slowStartSeconds,
  healthCheck: domain.healthCheck,
  origins: domain.upstreams.map((upstream) => ({ ...upstream, key: upstream.id })),
});

/** Changes of an origin as text: `203.0.113.24 weight 60 → 70`. */
function originChanges(from: Origin, to: Origin, t: T): string[] {
  const { address } = to;
  const value = (name: Word, before: string | number, after: string | number) =>
    t('domains.changes.of', {
      address: from.address,
      change: t('domains.changes.value', { name: t(name).toLowerCase(), from: before, to: after }),
    });
  return [
    ...(from.address !== to.address ? [value('origins.fields.address', from.address, to.address)] : []),
    ...(from.port !== to.port ? [value('origins.fields.port', from.port, to.port)] : []),
    ...(from.weight !== to.weight ? [value('origins.fields.weight', from.weight, to.weight)] : []),
    ...(from.backup !== to.backup
      ? [t(to.backup ? 'domains.changes.toBackup' : 'domains.changes.toMain', { address })]
      : []),
    ...(from.enabled !== to.enabled
      ? [t(to.enabled ? 'domains.changes.turnedOn' : 'domains.changes.turnedOff', { address })]
      : []),
  ];
}

const pair = ({ from, to }: PortMap[number]) => `${from} ${to}`;

export function changesOf(live: Draft, draft: Draft, t: T): string[] {
  const value = (name: Word, from: string | number, to: string | number) =>
    from === to ? [] : [t('domains.changes.value', { name: t(name).toLowerCase(), from, to })];
  const seconds = (count: number) => t('domains.origins.seconds', { count });
  const draftKeys = new Set(draft.origins.map(({ key }) => key));
  const mapped = new Set(draft.portMap.map(pair));
  const mappedLive = new Set(live.portMap.map(pair));
  return [
    ...value(
      'domains.fields.scheme',
      t(`domains.choices.scheme.${live.scheme}`),
      t(`domains.choices.scheme.${draft.scheme}`),
    ),
    ...value(
      'domains.fields.hostReplace',
      live.hostReplace || t('domains.origins.visitors'),
      draft.hostReplace || t('domains.origins.visitors'),
    ),
    ...value('domains.fields.sni', live.sni || t('domains.origins.asHost'), draft.sni || t('domains.origins.asHost')),
    ...value(
      'domains.fields.hashType',
      t(`domains.choices.hashType.${live.hashType}`),
      t(`domains.choices.hashType.${draft.hashType}`),
    ),
    ...draft.origins.flatMap((origin) => {
      const before = live.origins.find(({ key }) => key === origin.key);
      return before
        ? originChanges(before, origin, t)
        : [t('domains.changes.added', { address: origin.address || t('origins.newOrigin') })];
    }),
    ...live.origins
      .filter(({ key }) => !draftKeys.has(key))
      .map(({ address }) => t('domains.changes.removed', { address })),
    ...value('domains.fields.maxFails', live.maxFails, draft.maxFails),
    ...value('domains.fields.failTimeoutSeconds', seconds(live.failTimeoutSeconds), seconds(draft.failTimeoutSeconds)),
    ...value(
      'domains.fields.connectTimeoutSeconds',
      seconds(live.connectTimeoutSeconds),
      seconds(draft.connectTimeoutSeconds),
    ),
    ...value('domains.fields.readTimeoutSeconds', seconds(live.readTimeoutSeconds), seconds(draft.readTimeoutSeconds)),
    ...value(
      'domains.fields.websocketTimeoutSeconds',
      seconds(live.websocketTimeoutSeconds),
      seconds(draft.websocketTimeoutSeconds),
    ),
    ...value('domains.fields.slowStartSeconds', seconds(live.slowStartSeconds), seconds(draft.slowStartSeconds)),
    ...healthChanges(live.healthCheck, draft.healthCheck, t),
    ...draft.portMap.filter((entry) => !mappedLive.has(pair(entry))).map((entry) => t('domains.changes.mapped', entry)),
    ...live.portMap.filter((entry) => !mapped.has(pair(entry))).map((entry) => t('domains.changes.unmapped', entry)),
  ];
}

function healthChanges(from: HealthCheck | null, to: HealthCheck | null, t: T): string[] {
  if (same(from, to)) return [];
  if (from === null) return [t('domains.changes.healthOn')];
  return [t(to === null ? 'domains.changes.healthOff' : 'domains.changes.health')];
}

export type Faults = Record<string, Issue>;

/** Errors by path: `hostReplace`, `portMap`, `origins.<key>.address`. */
export function faultsOf(draft: Draft): Faults {
  const faults: Faults = {};
  const found = (path: string, issue: Issue) => (faults[path] ??= { ...issue, path });
  for (const issue of issuesOf(DomainUpdate, settingsOf(draft))) found(issue.path, issue);
  for (const issue of issuesOf(HttpsInput, draft)) found(issue.path.split('.')[0] ?? '', issue);

  const seen = new Set<string>();
  for (const origin of draft.origins) {
    if (origin.address.trim() === '') found(`origins.${origin.key}.address`, issueWith('required'));
    for (const issue of issuesOf(UpstreamInput, origin)) found(`origins.${origin.key}.${issue.path}`, issue);
    const place = `${origin.address} ${origin.port}`;
    if (seen.has(place)) found(`origins.${origin.key}.address`, issueWith('data already exists'));
    seen.add(place);
  }
  if (!draft.origins.some(({ enabled }) => enabled)) found('origins', issueWith('none enabled'));
  return faults;
}
const issueWith = (message: string): Issue => ({ path: '', rule: 'rule', message, values: {} });

const settingsOf = (draft: Draft) => ({
  hashType: draft.hashType,
  hostReplace: draft.hostReplace.trim() || null,
  sni: draft.sni.trim() || null,
  maxFails: draft.maxFails,
  failTimeoutSeconds: draft.failTimeoutSeconds,
  connectTimeoutSeconds: draft.connectTimeoutSeconds,
  readTimeoutSeconds: draft.readTimeoutSeconds,
  websocketTimeoutSeconds: draft.websocketTimeoutSeconds,
  slowStartSeconds: draft.slowStartSeconds,
  healthCheck: draft.healthCheck,
});

export interface Plan {
  https: Sent<typeof domains.https>['body'] | null;
  update: Sent<typeof domains.update>['body'] | null;
  create: Sent<typeof domainUpstreams.create>['body']['upstreams'];
  change: Sent<typeof domainUpstreams.update>['body']['upstreams'];
  remove: string[];
}

const same = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** Sends only differences, because two people may edit one domain. */
export function planOf(live: Draft, draft: Draft): Plan {
  const before = new Map(live.origins.map((origin) => [origin.id, origin]));
  const draftIds = new Set(draft.origins.map(({ id }) => id));
  const settings = settingsOf(draft);
  const sides = (given: Draft) => ({ scheme: given.scheme, portMap: given.portMap });
  return {
    https: same(sides(live), sides(draft)) ? null : sides(draft),
    update: same(settingsOf(live), settings) ? null : settings,
    create: draft.origins.flatMap(({ id, key: _, ...origin }) => (id === null ? [origin] : [])),
    change: draft.origins.flatMap(({ id, key: _, ...origin }) => {
      const was = before.get(id);
      return id === null || !was || same({ ...was, ...origin }, was) ? [] : [{ id, ...origin }];
    }),
    remove: live.origins.flatMap(({ id }) => (id === null || draftIds.has(id) ? [] : [id])),
  };
}
