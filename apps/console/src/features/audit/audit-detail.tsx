import { audit } from '@edgeloom/contract/audit/audit.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { DifferenceTable } from '../../components/differences/difference-table.tsx';
import { kindName } from '../../components/differences/in-words.ts';
import { Await } from '../../components/states/await.tsx';
import { Pill } from '../../components/status/status.tsx';
import { Copy } from '../../components/values/copy.tsx';
import { Time } from '../../components/values/values.tsx';
import { fieldTitle } from '../../components/resource-table/columns.tsx';
import { withCode } from '../../lib/errors.ts';
import { count } from '../../lib/format.ts';
import { tMaybe, useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { actorOf, reasonOf } from './in-words.ts';
import { isFailed } from './sentence.ts';
import { SentenceOf } from './sentence-of.tsx';
import { toneOfAnswer } from './tone.ts';
import classes from './audit.module.css';

type Detail = Received<typeof audit.get>;
type Change = Detail['changes'][number];
type ChangedRow = Change['rows'][number];

/** One call: its sentence, who made it from where, the request and its status, and each change before and after. */
export const AuditDetail = ({ reqID }: { reqID: string }) => (
  <Await result={useEndpoint(audit.get, { params: { reqID } })}>{(row) => <CallDetail row={row} />}</Await>
);

function CallDetail({ row }: { row: Detail }) {
  const t = useT();
  const account = row.accountName === row.email || row.accountName === '' ? '' : ` (${row.email})`;
  const facts = [
    ['time', <Time key="time" at={row.time} />],
    ['accountName', `${actorOf(row)}${account}`],
    ['address', row.address],
    ['device', row.device],
    ...(isFailed(row)
      ? [['error', row.code === null ? reasonOf(row) : withCode({ text: reasonOf(row), code: row.code })] as const]
      : []),
    ['url', <Copy key="url" text={`${row.method} ${row.url}`} />],
    [
      'status',
      <Pill key="status" tone={toneOfAnswer(row.status)}>
        {row.status === 0 ? t('audit.interrupted') : row.status}
      </Pill>,
    ],
    ['reqID', <Copy key="reqID" text={row.reqID} />],
  ] as const;
  return (
    <div className={classes['detail']}>
      <h3>
        <SentenceOf row={row} />
      </h3>
      <dl className={classes['facts']}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{fieldTitle('audit', name)}</dt>
            <dd>{value === '' ? '—' : value}</dd>
          </div>
        ))}
      </dl>
      <h3>{t('audit.changes')}</h3>
      {row.changes.length === 0 ? (
        <p className={classes['none']}>{t('audit.unchanged')}</p>
      ) : (
        row.changes.map((change, i) => <ChangedThings key={i} change={change} />)
      )}
    </div>
  );
}

function ChangedThings({ change: { entity, action, count: total, rows } }: { change: Change }) {
  const t = useT();
  return (
    <section className={classes['change']}>
      <h4>
        {tMaybe(`audit.entities.${entity}`) ?? kindName(entity)} ·{' '}
        {t(`audit.actions.${action}`, { number: count(total) })}
      </h4>
      {rows.map((row, i) => (
        <Difference key={i} entity={entity} row={row} />
      ))}
      {total > rows.length && (
        <p className={classes['none']}>{t('audit.more', { number: count(total - rows.length) })}</p>
      )}
    </section>
  );
}

function Difference({ entity, row: { key, before, after } }: { entity: string; row: ChangedRow }) {
  const t = useT();
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])].filter(
    (name) => name !== 'id' && name !== 'createdAt',
  );
  const named = key['name'] ?? key['email'] ?? key['id'];
  return (
    <DifferenceTable
      caption={written(named)}
      field={t('audit.field')}
      before={before ? t('audit.before') : null}
      after={after ? t('audit.after') : null}
      rows={fields.map((name) => ({
        name,
        title: fieldTitle(wordsOf[entity] ?? entity, name),
        before: written(before?.[name]),
        after: written(after?.[name]),
      }))}
    />
  );
}

/** Where the words of a table's columns stand, when the feature is called otherwise. */
const wordsOf: Readonly<Record<string, string>> = { cacheRules: 'cache', accounts: 'users', upstreams: 'domains' };

function written(value: unknown): string {
  if (value === null || value === undefined || value === '') return '—';
  if (typeof value === 'string') return value;
  return JSON.stringify(value);
}
