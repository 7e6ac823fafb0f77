// Formats values of a version with the labels of their feature.
import { count, duration } from '../../lib/format.ts';
import { currentLanguage, t, tMaybe, type Values, type Word } from '../../lib/i18n.ts';

export const kindName = (kind: string) => tMaybe(`versions.kinds.${kind}`) ?? tMaybe(`${kind}.name`) ?? kind;

/** The name of an object. Crawler rules are named by their category. */
export const objectName = (kind: string, name: string) => tMaybe(`${kind}.choices.category.${name}`) ?? name;

/** `2 cache rules` */
export const countedKind = (kind: string, of: number) =>
  firstOf([`versions.counted.${kind}`, `${kind}.countedNoun`], { count: of, number: count(of) }) ??
  `${count(of)} ${kindName(kind)}`;

/** Locale namespaces of kinds whose feature has another name. The last one comes first. */
const wordsOf: Readonly<Record<string, readonly string[]>> = {
  abuseIps: ['firewall', 'abuseIPs'],
  accounts: ['userInformation', 'accounts'],
  alertChannels: ['notifySetting', 'webhooks'],
  alertFrequencies: ['alertFrequency'],
  announcements: ['announcementSetting'],
  antiHeaders: ['hotlink'],
  antiReferers: ['hotlink'],
  blocks: ['ipset'],
  brandings: ['branding'],
  cacheRules: ['cache'],
  cacheSettings: ['cache'],
  certificatePairs: ['certificates'],
  compressions: ['compression'],
  dbBackups: ['dbBackup'],
  defaultErrorPages: ['errorPages'],
  dnsSettings: ['dnsSetting', 'dnsAccount'],
  emailSettings: ['emailSetting'],
  frequencies: ['limits'],
  firewallGeos: ['firewall', 'geos'],
  firewallLists: ['firewall'],
  groupMembers: ['groups'],
  licenses: ['licenses', 'licenseOffers'],
  licenseOrders: ['licenseOffers', 'licenseOrders'],
  limitConns: ['limits'],
  limitReqs: ['limits'],
  modules: ['customHeaders', 'cors', 'proxyRewrites', 'urlRedirects', 'tokenAuths', 'acls', 'luaAcls', 'wafs'],
  nameProofSettings: ['nameProofSetting'],
  nginxDefaults: ['zoneSettings'],
  oidcProviders: ['oidcSetting'],
  passkeys: ['security'],
  portRules: ['ports'],
  portUpstreams: ['origins'],
  purges: ['purge'],
  sessions: ['security'],
  predefinedSettings: ['predefinedSetting'],
  siteAntiCcs: ['siteAntiCC', 'antiCCs'],
  siteDns: ['dnsAccount', 'siteDns'],
  systemSettings: ['systemSetting'],
  upstreams: ['origins'],
  userAgentRules: ['firewall', 'userAgents'],
  zoneSwitches: ['zoneSettings'],
  zoneVersions: ['zoneSettings'],
  zones: ['antiCC', 'ipset', 'zoneSettings', 'zones'],
};
const featuresOf = (kind: string) => ['versions', ...(wordsOf[kind] ?? [kind])];

/** `settings.maxAge` uses the label of `maxAge`. */
const lastOf = (field: string) => field.slice(field.lastIndexOf('.') + 1);

const firstOf = (words: readonly string[], values?: Values) => {
  for (const word of words) {
    const found = tMaybe(word, values);
    if (found !== null) return found;
  }
  return null;
};

/** A column's name in the API: `zoneId` is `zoneID`. */
const apiNameOf = (column: string) =>
  column.replace(/(?:Id|Ids|Ssl|Tls)(?=[A-Z]|$)/g, (part) => (part === 'Ids' ? 'IDs' : part.toUpperCase()));

export const titleOf = (kind: string, field: string) => knownTitle(kind, field) ?? lastOf(field);

/** Null for a field without a title. */
export function knownTitle(kind: string, field: string): string | null {
  const name = lastOf(field);
  const words = featuresOf(kind)
    .toReversed()
    .flatMap((feature) => [
      `${feature}.fields.${name}`,
      `${feature}.fields.${apiNameOf(name)}`,
      `${feature}.health.${name}`,
      `${feature}.tabs.${name}`,
    ]);
  return firstOf([...words, `audit.columns.${name}`, `common.fields.${name}`]);
}

/** One line per list entry, otherwise one line. */
export function linesOf(kind: string, field: string, value: unknown): string[] {
  if (Array.isArray(value) && value.length > 0) return value.map((part: unknown) => written(kind, field, part));
  return [written(kind, field, value)];
}

/** Switches with labels other than on and off. */
const sides: Readonly<Record<string, readonly [on: Word, off: Word]>> = {
  'antiReferers.isBlack': ['hotlink.choices.list.black', 'hotlink.choices.list.white'],
  'upstreams.backup': ['origins.backup', 'origins.main'],
  'portUpstreams.backup': ['origins.backup', 'origins.main'],
  'accounts.isRoot': ['accounts.choices.grade.0', 'accounts.choices.grade.1'],
  'blocks.removed': ['common.yes', 'common.no'],
  'virtualRecords.disabled': ['common.yes', 'common.no'],
};

export const NOTHING = '—';
const seconds = /Seconds$|^(?:cacheTime|minTime|maxTime|browserTime|staleWhileRevalidate|staleIfError|maxAge)$/;

function written(kind: string, field: string, value: unknown): string {
  const name = lastOf(field);
  if (value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0))
    return NOTHING;
  if (typeof value === 'boolean' || typeof value === 'string' || typeof value === 'number') {
    const choice = firstOf(featuresOf(kind).map((feature) => `${feature}.choices.${name}.${String(value)}`));
    if (choice !== null) return choice;
    if (name === 'kind') return firstOf([`${String(value)}s.title`, `${String(value)}.title`]) ?? String(value);
    if (name === 'type' && typeof value === 'string') return tMaybe(`shared.paths.choice.${value}`) ?? value;
  }
  if (typeof value === 'boolean') {
    const [on, off] = sides[`${kind}.${name}`] ?? ['common.on', 'common.off'];
    return t(value ? on : off);
  }
  if (typeof value === 'number') {
    if (seconds.test(name)) return duration(value, currentLanguage());
    if (name.endsWith('Bytes')) return count(value);
    const unit = tMaybe(`${kind}.units.${name}`);
    return unit === null ? String(value) : `${count(value)}${unit}`;
  }
  if (Array.isArray(value)) return value.map((part: unknown) => written(kind, field, part)).join(t('common.comma'));
  if (typeof value === 'object')
    return Object.entries(value)
      .map(([part, inner]): [string, string] => [part, written(kind, part, inner)])
      .filter(([part, text]) => part !== 'id' && text !== NOTHING)
      .map(([part, text]) => `${titleOf(kind, part)}${t('common.colon')}${text}`)
      .join(t('common.semicolon'));
  return String(value);
}
