// Which changed tables and columns the operation log shows, and their values in words.
import { linesOf } from '../../components/differences/in-words.ts';
import { time } from '../../lib/format.ts';
import { t, tMaybe } from '../../lib/i18n.ts';
import { permissionsInWords } from '../../lib/permissions.ts';

/** Bookkeeping of the server. Its rows follow from the rows that the log shows. */
const hiddenTables: ReadonlySet<string> = new Set([
  'acmeAccounts',
  'acmeChallenges',
  'acmePlacements',
  'blockHolders',
  'blockSets',
  'certificateEvents',
  'certificateOrders',
  'originStates',
  'rolloutNodes',
  'rolloutWaves',
]);

/** Columns that follow from the call or from other columns, and those that only the server reads. */
const hiddenColumns: ReadonlySet<string> = new Set([
  'id',
  'siteId',
  'clientId',
  'createdAt',
  'updatedAt',
  'enabledName',
  'cnameDueAt',
  'search',
  'position',
  // Revisions and deliveries
  'revision',
  'publishedRevision',
  'digest',
  'tombstoneFloor',
  'docKeys',
  'messageCode',
  'retainedPorts',
  'settledAt',
  'keyName',
  'keySince',
  // Leases and retries
  'jobId',
  'dueAt',
  'claimedBy',
  'claimedUntil',
  'tries',
  'askAt',
  'failures',
  'noticedDays',
  'noticedEnd',
  'failedAt',
  'lastError',
  'cursor',
  'reached',
  'reachedLines',
  'progress',
  'failingSince',
  'documents',
  'queued',
  'lastOutbox',
  'sealedRevision',
  'otherKey',
  'otherKeySealed',
  'system',
  // Keys, tokens and their hashes
  'csrKeySealed',
  'csrPem',
  'chainPem',
  'tokenHash',
  'previousHash',
  'successor',
  'rotatedAt',
  'proxySessionId',
  'apiTokenId',
  'joinHash',
  'secretsSealed',
  'joinEndsAt',
  'publicKey',
  'credentialId',
  'counter',
  'transports',
  'backedUp',
  'lastStep',
  'hash',
  // Parents without a name
  'dnsId',
  'settingId',
  'brandingId',
  'rolloutId',
]);

/** As above, for columns whose names are used elsewhere, too. */
const hiddenOfTable: ReadonlySet<string> = new Set([
  'blocks.removedBy',
  'blocks.scope',
  'brandImages.bytes',
  'brandImages.format',
  'certificatePairs.keyType',
  'certificates.keyTypes',
  'dbBackups.countedFrom',
  'dbBackups.endedAt',
  'dbBackups.startedAt',
  'dbBackups.status',
  'dbBackups.tables',
  'dbBackups.tablesDone',
  'installationLicense.installationId',
  'installationLicense.movedAt',
  'installationLicense.notedAt',
  'installationLicense.seenAt',
  'logExports.bytes',
  'logExports.chunks',
  'logExports.isCut',
  'logExports.query',
  'logExports.type',
  'roles.ownerId',
  'rollouts.message',
  'rollouts.strategy',
  'rollouts.target',
  'savedSearches.filter',
  'trafficPackages.coveredProductId',
  'trafficPackages.soldUntil',
  'zoneVersions.content',
  'zones.keySealed',
]);

export const isShownTable = (table: string) => !hiddenTables.has(table);
export const isShownColumn = (table: string, column: string) =>
  !hiddenColumns.has(column) && !hiddenOfTable.has(`${table}.${column}`);

const timestamp = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}/;

/** Where the words of a column's values are, if they are not `choices` of its feature. */
const wordsOfValues: Readonly<Record<string, string>> = {
  'accounts.kind': 'accounts.choices.auth',
  'accounts.login2faType': 'audit.values.accounts.login2faType',
  'accounts.status': 'status.account',
  'blocks.cause': 'ipset.choices.causes',
  'brandImages.slot': 'branding.fields',
  'certificates.status': 'status.cert',
  'domains.certStatus': 'status.cert',
  'domains.cnameStatus': 'status.cname',
  'groupMembers.line': 'groups.lineNames',
  'groups.lines': 'groups.lineNames',
  'jobs.kind': 'jobs.kinds',
  'jobs.state': 'status.task',
  'logExports.log': 'logExports.logs',
  'mailedTokens.purpose': 'audit.values.mailedTokens.purpose',
  'nginxDefaults.part': 'zoneSettings.fields',
  'nodeJobs.kind': 'nodeJobs.title',
  'nodeJobs.state': 'nodeJobs.state',
  'purges.type': 'purge.kinds',
  'rollouts.fault': 'rollouts.fault',
  'rollouts.state': 'status.rollout',
  'sites.status': 'status.site',
  'zones.forceSslRedirectCode': 'zones.choices.code',
};

/** The value of a column in words. An id is the name of its object, if the reader may see it. */
export function valueInWords(
  table: string,
  column: string,
  value: unknown,
  names: Readonly<Record<string, string>>,
): string {
  if (column === 'permissions' && Array.isArray(value)) return permissionsInWords(value.map(String));
  if (Array.isArray(value) && value.length > 0)
    return value.map((part: unknown) => valueInWords(table, column, part, names)).join(t('common.comma'));
  if (typeof value === 'string' && names[value] !== undefined) return names[value];
  if (typeof value === 'string' && timestamp.test(value)) return time(value);
  const words = wordsOfValues[`${table}.${column}`];
  const text = words === undefined ? null : tMaybe(`${words}.${String(value)}`);
  return text ?? linesOf(table, column, value).join(t('common.comma'));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The shown columns of a row. An object that changed is split into the fields that differ: `settings.http2`. */
export function shownFields(
  table: string,
  before: Record<string, unknown>,
  after: Record<string, unknown>,
): { field: string; before: unknown; after: unknown }[] {
  const fields = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter((field) =>
    isShownColumn(table, field),
  );
  return fields.flatMap((field) => {
    const [had, has] = [before[field], after[field]];
    if (!isObject(had) || !isObject(has)) return [{ field, before: had, after: has }];
    return shownFields(table, had, has)
      .filter((part) => JSON.stringify(part.before) !== JSON.stringify(part.after))
      .map((part) => ({ ...part, field: `${field}.${part.field}` }));
  });
}
