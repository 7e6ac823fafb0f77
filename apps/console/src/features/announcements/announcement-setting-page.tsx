import { announcementSetting } from '@edgeloom/contract/announcements/announcements.endpoints.ts';
import { IconArrowDown, IconArrowUp, IconSpeakerphone } from '@tabler/icons-react';
import { useState } from 'react';
import { NumberField } from '../../components/fields/number-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { TimeField } from '../../components/fields/time-field.tsx';
import { Page } from '../../components/page/page.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { does, edit, remove } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { Pill } from '../../components/status/status.tsx';
import { useT } from '../../lib/i18n.ts';

type Row = RowOf<typeof announcementSetting.list>;

const columns: Column<Row>[] = [
  { key: 'title' },
  { key: 'orderNum', as: 'count' },
  { key: 'inForce', sort: false, render: (row) => <InForce row={row} /> },
  { key: 'start', as: 'time' },
  { key: 'end', as: 'time' },
  { key: 'createdAt', as: 'time', priority: 3 },
];

/** The operator's announcements to its accounts and customers. */
export function AnnouncementSettingPage() {
  return (
    <Page title="announcementSetting.title" create={<AnnouncementForm />} creates={announcementSetting.create}>
      <ResourceTable
        endpoint={announcementSetting.list}
        columns={columns}
        row={(row) => [
          edit(<AnnouncementForm value={row} />, { can: announcementSetting.update.can }),
          move(row, row.orderNum - 1),
          move(row, row.orderNum + 1),
          remove(announcementSetting.remove, { refreshes: ['announcements'] }),
        ]}
        bulk={[remove(announcementSetting.remove, { refreshes: ['announcements'] })]}
        phone={(row) => ({ below: <InForce row={row} />, end: row.orderNum })}
        empty={{ icon: IconSpeakerphone }}
      />
    </Page>
  );
}

const move = ({ id, orderNum }: Row, order: number) =>
  does<Row, typeof announcementSetting.update>(announcementSetting.update, {
    label: order < orderNum ? 'announcementSetting.up' : 'announcementSetting.down',
    icon: order < orderNum ? IconArrowUp : IconArrowDown,
    done: 'common.saved',
    applies: () => order >= 1,
    refreshes: ['announcements'],
    send: () => ({ body: { id, order } }),
  });

function InForce({ row: { start, end } }: { row: Pick<Row, 'start' | 'end'> }) {
  const t = useT();
  const [now] = useState(() => Date.now());
  const state = Date.parse(start) > now ? 'later' : end !== null && Date.parse(end) <= now ? 'over' : 'now';
  const tones = { later: 'unknown', now: 'ok', over: 'off' } as const;
  return <Pill tone={tones[state]}>{t(`announcementSetting.states.${state}`)}</Pill>;
}

function AnnouncementForm({ value }: { value?: Row }) {
  const [now] = useState(() => new Date().toISOString());
  return (
    <ResourceForm
      create={announcementSetting.create}
      update={announcementSetting.update}
      value={value && { ...value, order: value.orderNum }}
      initial={{ start: now }}
      refreshes={['announcements']}
    >
      <TextField name="title" />
      <TextField name="content" long />
      <TimeField name="start" />
      <TimeField name="end" nullable />
      <NumberField name="order" min={1} />
    </ResourceForm>
  );
}
