import { blockCauses } from '@edgeloom/contract/ipset/ipset.ts';
import { ipset } from '@edgeloom/contract/ipset/ipset.endpoints.ts';
import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { Button, Progress, Switch } from '@mantine/core';
import { IconBan, IconLockOpen, IconShieldOff } from '@tabler/icons-react';
import { useMemo, useState } from 'react';
import { LinesField } from '../../components/fields/lines-field.tsx';
import { NumberField } from '../../components/fields/number-field.tsx';
import { useConfirm } from '../../components/confirm/confirm.tsx';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Section } from '../../components/page/section.tsx';
import { Pages } from '../../components/pages/pages.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { backTo, does } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Await } from '../../components/states/await.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { Nothing, Time } from '../../components/values/values.tsx';
import { count } from '../../lib/format.ts';
import { t, tMaybe, useT } from '../../lib/i18n.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { useCan } from '../../lib/use-can.ts';
import type { Settings } from './draft.ts';
import { Drafting } from './drafting.tsx';
import { NumberSetting } from './number-setting.tsx';
import classes from './ipset-tab.module.css';

type Block = RowOf<typeof ipset.get>;

const POLL_MS = 5000;
const MINUTE = 60;
const FAULTS_SHOWN = 5;
const FAULTS_ON_A_PAGE = 50;

const causeOf = ({ cause }: Block) => tMaybe(`ipset.choices.causes.${cause}`) ?? cause;
const finderOf = ({ node, author }: Block) => (author === '' ? (node?.name ?? '') : author);

const columns: Column<Block>[] = [
  { key: 'ip', render: ({ ip }) => <code className={classes['ip']}>{ip}</code> },
  { key: 'cause', render: causeOf, text: causeOf },
  {
    key: 'site',
    sort: false,
    flexible: true,
    render: ({ site }) => site?.name ?? <Nothing />,
    text: ({ site }) => site?.name ?? '',
  },
  { key: 'finder', sort: false, priority: 2, render: (row) => finderOf(row) || <Nothing />, text: finderOf },
  { key: 'since', as: 'time', priority: 2 },
  { key: 'until', as: 'time' },
];

/** Temporary IP blocks of a zone. */
export function IpsetTab({ zoneId, settings }: { zoneId: string; settings: Settings }) {
  return (
    <Drafting zoneId={zoneId} settings={settings}>
      {(value, set) => (
        <>
          <Fields value={value.ipset} onChange={(next) => set({ ipset: next })} />
          {settings.ipset.enabled && <Blocked zoneId={zoneId} timeout={settings.ipset.timeout} />}
        </>
      )}
    </Drafting>
  );
}

function Fields({ value, onChange }: { value: Settings['ipset']; onChange: (next: Settings['ipset']) => void }) {
  const t = useT();
  const can = useCan();
  const disabled = !can(zoneSettings.set);
  const number = (name: 'timeout' | 'max', unit: number, min: number, max: number) => (
    <NumberSetting
      label={t(`ipset.fields.${name}`)}
      hint={t(`ipset.hints.${name}`)}
      value={value[name]}
      {...{ unit, min, max, disabled }}
      {...(unit > 1 && { suffix: t('ipset.minutesSuffix'), decimals: 2 })}
      onChange={(next) => onChange({ ...value, [name]: next })}
    />
  );
  return (
    <Section title="ipset.title" why="ipset.why">
      <Switch
        label={t('ipset.fields.enabled')}
        description={t('ipset.hints.enabled')}
        {...{ disabled }}
        checked={value.enabled}
        onChange={(event) => onChange({ ...value, enabled: event.currentTarget.checked })}
      />
      {number('timeout', MINUTE, 1, 43_200)}
      {number('max', 1, 100, 100_000)}
    </Section>
  );
}

const unblockingIn = (zoneId: string) =>
  does<Block, typeof ipset.remove>(ipset.remove, {
    label: 'ipset.unblock',
    icon: IconLockOpen,
    done: 'ipset.unblocked',
    send: (rows) => ({ params: { zoneId }, body: { ids: rows.map(({ id }) => id) } }),
    undo: (rows) => {
      const ipOf = new Map(rows.map(({ id, ip }) => [id, ip]));
      const blockAgain = (ids: readonly string[], until: string) => ({
        params: { zoneId },
        body: { ips: ids.flatMap((id) => ipOf.get(id) ?? []), timeout: secondsUntil(until) },
      });
      return backTo(rows, ({ until }) => until, blockAgain).map((step) => ({ ...step, endpoint: ipset.create }));
    },
  });

/** 10 seconds is the shortest block. */
const secondsUntil = (time: string) => Math.max(10, Math.round((Date.parse(time) - Date.now()) / 1000));

/** Currently blocked addresses. */
function Blocked({ zoneId, timeout }: { zoneId: string; timeout: number }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const unblocking = useMemo(() => unblockingIn(zoneId), [zoneId]);
  return (
    <div className={classes['blocked']}>
      <Fill zoneId={zoneId} />
      <ResourceTable
        endpoint={ipset.get}
        params={{ zoneId }}
        columns={columns}
        search="ip"
        sort="-since"
        filters={[{ key: 'causes', choices: blockCauses, many: true }]}
        pollMs={POLL_MS}
        caption="ipset.blocked"
        counted={() => null}
        row={() => [unblocking]}
        bulk={[unblocking]}
        phone={(row) => ({ below: causeOf(row), end: <Time at={row.until} /> })}
        empty={{ icon: IconShieldOff }}
        tools={
          can(ipset.create) && (
            <Button
              data-main-action
              leftSection={<IconBan size={15} stroke={1.8} />}
              onClick={() => overlay(<BlockForm zoneId={zoneId} timeout={timeout} />, { title: 'ipset.block' })}
            >
              {t('ipset.block')}
            </Button>
          )
        }
      />
    </div>
  );
}

/** Usage of the block set, and nodes without it. */
function Fill({ zoneId }: { zoneId: string }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const confirm = useConfirm();
  const { run, running } = useAction(ipset.flush, { done: 'ipset.flushed' });
  // One row suffices, because the counts are of the whole set.
  const result = useEndpoint(ipset.get, { params: { zoneId }, query: { pageSize: 1 } }, { pollMs: POLL_MS });
  return (
    <Await result={result}>
      {({ size, max, refused, nodes, holding, faults, faultCount }) => {
        const flush = async () => {
          const title = t('ipset.flushTitle', { count: size });
          const points = [t('ipset.flushPoint'), t('shared.confirm.final')];
          if (await confirm({ title, points, verb: t('ipset.flush') })) await run({ params: { zoneId } });
        };
        return (
          <div className={classes['fill']}>
            <div className={classes['figures']}>
              <b>{t('ipset.size', { count: size, max: count(max) })}</b>
              <span>{t('ipset.holding', { holding, count: nodes })}</span>
              {can(ipset.flush) && (
                <Button variant="default" disabled={size === 0} loading={running} onClick={() => void flush()}>
                  {t('ipset.flush')}
                </Button>
              )}
            </div>
            <Progress
              value={Math.min(100, (size / max) * 100)}
              color={size >= max ? 'red' : 'accent'}
              aria-label={t('ipset.fill')}
            />
            {refused > 0 && (
              <p>
                <StatusMark tone="warn" /> {t('ipset.refused', { count: refused })}
              </p>
            )}
            {faults.slice(0, FAULTS_SHOWN).map(({ node, error }) => (
              <Fault key={node} node={node} error={error} />
            ))}
            {faultCount > FAULTS_SHOWN && (
              <p>
                {t('common.form.moreRows', { more: count(faultCount - FAULTS_SHOWN) })}{' '}
                <Button
                  size="compact-sm"
                  variant="subtle"
                  onClick={() => overlay(<Faults zoneId={zoneId} />, { title: 'ipset.faults' })}
                >
                  {t('ipset.allFaults')}
                </Button>
              </p>
            )}
          </div>
        );
      }}
    </Await>
  );
}

function Fault({ node, error }: { node: string; error: string }) {
  const t = useT();
  return (
    <p>
      <StatusMark tone="warn" /> {t('ipset.fault', { node })} <small>{error}</small>
    </p>
  );
}

/** All nodes whose kernel does not block, page by page. */
function Faults({ zoneId }: { zoneId: string }) {
  const [page, setPage] = useState(1);
  const query = { page, pageSize: FAULTS_ON_A_PAGE };
  const result = useEndpoint(ipset.faults, { params: { zoneId }, query }, { pollMs: POLL_MS });
  return (
    <Await result={result}>
      {({ data, total }) => (
        <div className={classes['fill']}>
          {data.map(({ node, error }) => (
            <Fault key={node.id} node={node.name} error={error} />
          ))}
          <Pages page={page} pageSize={FAULTS_ON_A_PAGE} total={total} onChange={setPage} />
        </div>
      )}
    </Await>
  );
}

function BlockForm({ zoneId, timeout }: { zoneId: string; timeout: number }) {
  return (
    <ResourceForm
      create={ipset.create}
      params={{ zoneId }}
      initial={{ ips: [], timeout }}
      submitLabel="ipset.block"
      done="ipset.done"
    >
      <LinesField name="ips" placeholder={'203.0.113.7\n2001:db8::5'} twice={t('errorMessages.duplicate IP')} />
      <NumberField name="timeout" min={10} max={2_592_000} suffix={t('ipset.secondsSuffix')} />
    </ResourceForm>
  );
}
