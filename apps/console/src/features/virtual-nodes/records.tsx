import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { virtualRecords } from '@edgeloom/contract/virtual-nodes/virtual-nodes.endpoints.ts';
import { CnameInput } from '@edgeloom/contract/virtual-nodes/virtual-nodes.ts';
import { Button, SegmentedControl, Switch, TextInput } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import * as z from 'zod';
import type { Received } from '@edgeloom/contract/endpoint.ts';
import { MetaSelect } from '../../components/fields/meta-select.tsx';
import { Await } from '../../components/states/await.tsx';
import { Pill } from '../../components/status/status.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import { useAction, useEndpoint } from '../../lib/use-endpoint.ts';
import { useMetaSearch } from '../../lib/use-meta.ts';
import classes from './virtual-nodes.module.css';

type Row = Received<typeof virtualRecords.list>['data'][number];
interface Of {
  zoneId: string;
  vnodeId: string;
}
const others = ['virtualNodes', 'groups'];

/** DNS records of a virtual node. Enabled records must be disabled before removal. */
export function Records({ zoneId, vnodeId }: Of) {
  const t = useT();
  const can = useCan();
  const found = useEndpoint(virtualRecords.list, { params: { zoneId, vnodeId } });
  const [addedID, setAddedID] = useState<string | null>(null);
  return (
    <div className={classes['records']}>
      <p className={classes['why']}>{t('virtualRecords.why')}</p>
      <Await result={found}>
        {({ data }) => (
          <table className={classes['table']}>
            <caption className="hidden-text">{t('virtualNodes.records')}</caption>
            <thead>
              <tr>
                <th scope="col">{t('virtualRecords.fields.target')}</th>
                <th scope="col">{t('virtualRecords.fields.enabled')}</th>
                <th scope="col">
                  <span className="hidden-text">{t('shared.table.actions')}</span>
                </th>
              </tr>
            </thead>
            <tbody>
              {data.length === 0 && (
                <tr>
                  <td colSpan={3}>{t('virtualRecords.empty')}</td>
                </tr>
              )}
              {data.map((row) => (
                <RecordRow key={row.id} row={row} of={{ zoneId, vnodeId }} isNew={row.id === addedID} />
              ))}
            </tbody>
          </table>
        )}
      </Await>
      {can(virtualRecords.createCname) && <Adding of={{ zoneId, vnodeId }} onAdded={setAddedID} />}
    </div>
  );
}

const intoView = (row: HTMLElement | null) => row?.scrollIntoView({ block: 'nearest' });

function RecordRow({ row, of, isNew }: { row: Row; of: Of; isNew: boolean }) {
  const t = useT();
  const mayWrite = useCan()(virtualRecords.updateCname);
  const isName = row.cname !== null;
  const update = useAction(isName ? virtualRecords.updateCname : virtualRecords.updateNode, { refreshes: others });
  const remove = useAction(isName ? virtualRecords.removeCname : virtualRecords.removeNode, {
    refreshes: others,
    done: 'common.removed',
  });
  const target = row.cname ?? row.ip ?? '';
  return (
    <tr ref={isNew ? intoView : null} data-new={isNew || undefined}>
      <td className={classes['target']}>
        {target} <Pill tone="off">{isName ? 'CNAME' : target.includes(':') ? 'AAAA' : 'A'}</Pill>
        {row.nodeName !== null && <small>{row.nodeName}</small>}
      </td>
      <td>
        <Switch
          aria-label={t('virtualRecords.switch', { target })}
          checked={row.enabled}
          disabled={!mayWrite || update.running}
          onChange={(event) =>
            void update.run({ params: of, body: { id: row.id, enabled: event.currentTarget.checked } })
          }
        />
      </td>
      <td>
        {mayWrite && (
          <Button
            variant="subtle"
            disabled={row.enabled}
            aria-label={t('virtualRecords.remove', { target })}
            title={row.enabled ? t('virtualRecords.offFirst') : undefined}
            onClick={() => void remove.run({ params: of, body: { ids: [row.id] } })}
          >
            <IconTrash size={16} stroke={1.6} />
          </Button>
        )}
      </td>
    </tr>
  );
}

const kinds = ['node', 'ip', 'cname'] as const;
type Kind = (typeof kinds)[number];
const Address = z.union([z.ipv4(), z.ipv6()]);

function Adding({ of, onAdded }: { of: Of; onAdded: (id: string) => void }) {
  const t = useT();
  const [kind, setKind] = useState<Kind>('ip');
  const [value, setValue] = useState('');
  const [fault, setFault] = useState<string | null>(null);
  const form = useRef<HTMLFormElement>(null);
  const options = { refreshes: others, done: 'virtualRecords.added' } as const;
  const cname = useAction(virtualRecords.createCname, options);
  const node = useAction(virtualRecords.createNode, options);
  const ofZone = useMetaSearch(nodes.meta, {
    query: { zoneID: of.zoneId },
    chosen: kind === 'node' && value !== '' ? [value] : [],
    enabled: kind === 'node',
  });
  const set = (next: string) => {
    setValue(next);
    setFault(null);
  };

  async function add() {
    const text = value.trim();
    if (kind === 'ip' && !Address.safeParse(text).success) return setFault(t('virtualRecords.noAddress'));
    if (kind === 'cname' && !CnameInput.safeParse({ cname: text }).success) return setFault(t('virtualRecords.noName'));
    if (text === '') return setFault(t('errors.rules.required'));
    const done =
      kind === 'cname'
        ? await cname.run({ params: of, body: { cname: text } })
        : await node.run({ params: of, body: kind === 'ip' ? { ip: text } : { nodeID: text } });
    if (!done) return;
    set('');
    onAdded(done.id);
    // The button lost focus while it was disabled.
    form.current?.querySelector<HTMLElement>('input:is([type="text"], :not([type]))')?.focus({ preventScroll: true });
  }
  return (
    <form
      ref={form}
      className={classes['adding']}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void add();
      }}
    >
      <SegmentedControl
        aria-label={t('virtualRecords.kind')}
        data={kinds.map((one) => ({ value: one, label: t(`virtualRecords.kinds.${one}`) }))}
        value={kind}
        onChange={(next) => {
          setKind(kinds.find((one) => one === next) ?? 'ip');
          set('');
        }}
      />
      {kind === 'node' ? (
        <MetaSelect
          aria-label={t('virtualRecords.fields.target')}
          choices={ofZone}
          value={value === '' ? null : value}
          error={fault}
          onChange={(next) => set(next ?? '')}
        />
      ) : (
        <TextInput
          aria-label={t('virtualRecords.fields.target')}
          data-creates="virtualRecord"
          data-autofocus
          placeholder={kind === 'ip' ? '198.51.100.7' : 'cdn.example.net'}
          value={value}
          error={fault}
          onChange={(event) => set(event.currentTarget.value)}
        />
      )}
      <Button type="submit" variant="default" loading={cname.running || node.running}>
        {t('virtualRecords.add')}
      </Button>
    </form>
  );
}
