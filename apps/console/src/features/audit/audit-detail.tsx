import { audit } from '@edgeloom/contract/audit/audit.endpoints.ts';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import type { ReactNode } from 'react';
import { DifferenceTable } from '../../components/differences/difference-table.tsx';
import { kindName, titleOf } from '../../components/differences/in-words.ts';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Await } from '../../components/states/await.tsx';
import { Pill } from '../../components/status/status.tsx';
import { Copy } from '../../components/values/copy.tsx';
import { Time } from '../../components/values/values.tsx';
import { fieldTitle } from '../../components/resource-table/columns.tsx';
import { withCode } from '../../lib/errors.ts';
import { count } from '../../lib/format.ts';
import { tMaybe, useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { isShownTable, shownFields, valueInWords } from './columns.ts';
import { actorOf, isPartlyFailed, reasonOf, resultOf } from './in-words.ts';
import { isFailed, NAMES_IN_SENTENCE, namesOf, type LoggedAction } from './sentence.ts';
import { Pieces, SentenceOf } from './sentence-of.tsx';
import { toneOfAction, toneOfStatus } from './tone.ts';
import classes from './audit.module.css';

type Detail = Received<typeof audit.get>;
type Change = Detail['changes'][number];
type Names = Detail['names'];

interface ChangedObjectsProps {
  change: Change;
  names: Names;
}
interface DifferenceProps {
  entity: string;
  row: Change['rows'][number];
  names: Names;
}

/** A copy has at most this many target sites. More names would push the calls out of view. */
const MAX_NAMES = 20;
const entityName = (entity: string) => tMaybe(`audit.entities.${entity}`) ?? kindName(entity);

/** An action: its sentence, who did it from where, its calls, and each change before and after. */
export function AuditDetail({ row: { id, callCount } }: { row: Pick<LoggedAction, 'id' | 'callCount'> }) {
  // A row of one call may be a part of an action: the list of all calls has such rows.
  const detail = callCount === 1 ? 'calls' : 'actions';
  return (
    <Await result={useEndpoint(audit.get, { params: { reqID: id }, query: { detail } })}>
      {(row) => <ActionDetail row={row} />}
    </Await>
  );
}

function ActionDetail({ row }: { row: Detail }) {
  const t = useT();
  const isOneCall = row.callCount === 1;
  const changes = row.changes.filter(({ entity }) => isShownTable(entity));
  const account = row.accountName === row.email || row.accountName === '' ? '' : ` (${row.email})`;
  const title = (name: string) => fieldTitle('audit', name);
  const facts: [title: string, value: ReactNode][] = [
    [title('time'), <Time key="time" at={row.time} />],
    [title('accountName'), `${actorOf(row)}${account}`],
    [title('address'), row.address],
    [title('device'), row.device],
  ];
  if (isFailed(row)) {
    const text = reasonOf(row);
    facts.push([title('error'), row.code === null ? text : withCode({ text, code: row.code })]);
  }
  if (isPartlyFailed(row))
    facts.push([
      title('result'),
      <Pill key="result" tone={toneOfAction(row)}>
        {resultOf(row)}
      </Pill>,
    ]);
  for (const target of row.targets)
    if (target.items.length > NAMES_IN_SENTENCE)
      facts.push([entityName(target.kind), <Pieces key={target.kind} of={namesOf(target, MAX_NAMES)} row={row} />]);
  facts.push([title('url'), <Copy key="url" text={`${row.method} ${row.url}`} />]);
  if (isOneCall)
    facts.push(
      [title('status'), <Status key="status" status={row.status} />],
      [title('reqID'), <Copy key="reqID" text={row.reqID} />],
    );
  return (
    <div className={classes['detail']}>
      <h3>
        <SentenceOf row={row} />
      </h3>
      <dl className={classes['facts']}>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value === '' ? '—' : value}</dd>
          </div>
        ))}
      </dl>
      {!isOneCall && <Calls row={row} />}
      <h3>{t('audit.changes')}</h3>
      {changes.length === 0 ? (
        <p className={classes['none']}>{t('audit.unchanged')}</p>
      ) : (
        changes.map((change, i) => <ChangedObjects key={i} change={change} names={row.names} />)
      )}
    </div>
  );
}

/** The calls of an action. Each opens its own detail. */
function Calls({ row: { calls, callCount } }: { row: Detail }) {
  const t = useT();
  const open = useOverlay();
  return (
    <>
      <h3>{t('audit.callList', { number: count(callCount) })}</h3>
      <ul className={classes['calls']}>
        {calls.map(({ reqID, time, status, changeCount }) => (
          <li key={reqID}>
            <button
              type="button"
              className={classes['opens']}
              onClick={() =>
                open(<AuditDetail row={{ id: reqID, callCount: 1 }} />, { title: 'audit.call', wide: true })
              }
            >
              <Time at={time} />
            </button>
            <Status status={status} />
            <span className={classes['none']}>{t('audit.changesMade', { count: changeCount })}</span>
            <Copy text={reqID} />
          </li>
        ))}
      </ul>
      {callCount > calls.length && (
        <p className={classes['none']}>{t('audit.more', { number: count(callCount - calls.length) })}</p>
      )}
    </>
  );
}

function Status({ status }: { status: number }) {
  const t = useT();
  return <Pill tone={toneOfStatus(status)}>{status === 0 ? t('audit.interrupted') : status}</Pill>;
}

function ChangedObjects({ change: { entity, action, count: total, rows }, names }: ChangedObjectsProps) {
  const t = useT();
  return (
    <section className={classes['change']}>
      <h4>
        {entityName(entity)} · {t(`audit.actions.${action}`, { number: count(total) })}
      </h4>
      {rows.map((row, i) => (
        <Difference key={i} entity={entity} row={row} names={names} />
      ))}
      {total > rows.length && (
        <p className={classes['none']}>{t('audit.more', { number: count(total - rows.length) })}</p>
      )}
    </section>
  );
}

function Difference({ entity, row: { key, before, after }, names }: DifferenceProps) {
  const t = useT();
  const inWords = (field: string, value: unknown) => valueInWords(entity, field, value, names);
  const name = key['name'] ? inWords('name', key['name']) : (key['email'] ?? names[String(key['id'])]);
  return (
    <DifferenceTable
      {...(typeof name === 'string' && name !== '' && { caption: name })}
      field={t('audit.field')}
      before={before ? t('audit.before') : null}
      after={after ? t('audit.after') : null}
      rows={shownFields(entity, before ?? {}, after ?? {}).map(({ field, ...values }) => ({
        name: field,
        title: titleOf(entity, field),
        before: inWords(field, values.before),
        after: inWords(field, values.after),
      }))}
    />
  );
}
