import { Status } from '../../components/status/status.tsx';
import type { Column } from '../../components/resource-table/columns.tsx';
import { Nothing } from '../../components/values/values.tsx';
import { t } from '../../lib/i18n.ts';
import { readableName } from '../../lib/readable-name.ts';
import classes from './domains.module.css';
import type { Domain } from './origins-draft.ts';
import { certNext, cnameNext } from './waits.ts';

/** The first active origin, and the number of others. */
function Origins({ of }: { of: Domain['upstreams'] }) {
  const first = of.find(({ backup, enabled }) => enabled && !backup) ?? of[0];
  if (!first) return <Nothing />;
  return (
    <>
      {first.address}
      {of.length > 1 && <span className={classes['plus']}> +{of.length - 1}</span>}
    </>
  );
}

/** In punycode, and readable if it is of another script. */
export const domainName = {
  key: 'name',
  render: ({ name }) => <DomainName name={name} />,
  text: ({ name }) => name,
} as const satisfies Column<Pick<Domain, 'name'>>;
function DomainName({ name }: Pick<Domain, 'name'>) {
  const readable = readableName(name);
  return (
    <>
      {name}
      {readable !== null && (
        <small className={classes['plus']}>
          {' '}
          <bdi>{readable}</bdi>
        </small>
      )}
    </>
  );
}
export const cname: Column<Domain> = {
  key: 'cnameStatus',
  render: (domain) => <Status kind="cname" value={domain.cnameStatus} why={cnameNext(domain)} />,
};
export const cert: Column<Domain> = {
  key: 'certStatus',
  render: (domain) => <Status kind="cert" value={domain.certStatus} why={certNext(domain)} />,
};
export const force: Column<Domain> = {
  key: 'forceSSL',
  sort: false,
  priority: 3,
  render: ({ forceSSL }) => (forceSSL ? t('common.yes') : <Nothing />),
  text: ({ forceSSL }) => t(forceSSL ? 'common.yes' : 'common.no'),
};
export const origins: Column<Domain> = {
  key: 'upstreams',
  render: ({ upstreams }) => <Origins of={upstreams} />,
  text: ({ upstreams }) => upstreams.map(({ address, port }) => `${address}:${port}`).join(', '),
};
/** The last 24 hours. */
export const traffic = { key: 'traffic', as: 'bytes', sort: false, priority: 2 } as const;
export const tags: Column<Domain> = { key: 'tags', as: 'tags', priority: 2 };
export const updated: Column<Domain> = { key: 'updatedAt', as: 'time', priority: 2 };

/** Relative periods, so that a saved view stays valid. */
const since = ['P1D', 'P7D', 'P30D', 'P90D'] as const;

export const filters = [
  { key: 'enabled', label: 'common.fields.status', choices: ['true', 'false'] },
  { key: 'cnameStatuses', choices: ['pendingCheck', 'active', 'inactive'], many: true },
  { key: 'certStatus', choices: ['none', 'processing', 'success', 'fail'], many: true },
  { key: 'forceSSL', yesNo: true },
  { key: 'certificateMissing', yesNo: true },
  { key: 'createdAtStart', choices: since, typed: 'time' },
  { key: 'createdAtEnd', typed: 'time' },
  { key: 'updatedAtStart', choices: since, typed: 'time' },
  { key: 'updatedAtEnd', typed: 'time' },
] as const;

/** On phones: what is wrong or pending, otherwise the origin. */
export function Below({ domain }: { domain: Domain }) {
  if (domain.status === 1 && domain.certStatus === 'fail')
    return <Status kind="cert" value="fail" text={t('domains.cert.fail')} />;
  if (domain.status === 1 && domain.cnameStatus === 'inactive')
    return <Status kind="cname" value="inactive" text={t('domains.cname.inactive')} />;
  if (domain.status === 1 && domain.cnameStatus === 'pendingCheck')
    return <Status kind="cname" value="pendingCheck" text={t('domains.cname.pendingCheck')} why={cnameNext(domain)} />;
  return <Origins of={domain.upstreams} />;
}
