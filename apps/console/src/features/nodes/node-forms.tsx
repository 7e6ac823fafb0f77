import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { Geneva, NodePurge, NodeRole } from '@edgeloom/contract/nodes/nodes.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import type { ReactNode } from 'react';
import * as z from 'zod';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { LinesField } from '../../components/fields/lines-field.tsx';
import { ManyField } from '../../components/fields/many-field.tsx';
import { NumberField } from '../../components/fields/number-field.tsx';
import { SelectMetaField } from '../../components/fields/select-meta-field.tsx';
import { Section } from '../../components/page/section.tsx';
import { backTo } from '../../components/resource-table/actions.tsx';
import { useReverse } from '../../components/resource-table/use-reverse.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { useT, type Word } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import type { EdgeNode } from './node-states.ts';
import classes from './nodes.module.css';

/** Gives each node back the value that it has now. */
function useUndoNodes<Value>(
  rows: readonly EdgeNode[],
  valueOf: (node: EdgeNode) => Value,
  endpoint: typeof nodes.role | typeof nodes.geneva | typeof nodes.logRotateTime | typeof nodes.moveToZone,
  bodyOf: (ids: readonly string[], value: Value) => object,
) {
  const reverse = useReverse<EdgeNode>();
  const steps = backTo(rows, valueOf, (ids, value) => ({ body: bodyOf(ids, value) }));
  return () =>
    reverse(steps, { rows, nameOf: ({ name }) => name, params: undefined, endpoint, refreshes: ['zones', 'groups'] });
}

/** Another zone is other sites, other keys and another name on the bus. */
export function MoveForm({ rows }: { rows: readonly EdgeNode[] }) {
  const t = useT();
  const ids = rows.map(({ id }) => id);
  const undo = useUndoNodes(
    rows,
    ({ zoneID }) => zoneID,
    nodes.moveToZone,
    (some, zoneID) => ({ ids: some, zoneID }),
  );
  return (
    <ResourceForm
      create={nodes.moveToZone}
      initial={{ ids }}
      refreshes={['zones']}
      submitLabel="nodes.actions.move"
      done="nodes.done.moved"
      undo={undo}
    >
      <p className={classes['note']}>{t('nodes.movePoint')}</p>
      <SelectMetaField name="zoneID" meta={zones.meta} />
    </ResourceForm>
  );
}

const { packetSize, windowSize } = Geneva.shape;
/** An empty box is what the system does by itself. */
const Sizes = z.object({ packetSize: packetSize.unwrap().optional(), windowSize: windowSize.unwrap().optional() });

/** What is set of nodes; in a page's section it starts with what the one node has, and is saved in the bar. */
interface SettingForm {
  rows: readonly EdgeNode[];
  within?: { title: Word; why: Word } | undefined;
  /** What stands below the fields. */
  children?: ReactNode;
}

const settingOf = ({ rows, within }: SettingForm) => ({
  ids: rows.map(({ id }) => id),
  only: rows.length === 1 ? rows[0] : undefined,
  form: { submitLabel: 'common.save', done: 'common.saved', bar: within !== undefined } as const,
});

const Fields = ({ within, children }: Pick<SettingForm, 'within'> & { children: ReactNode }) =>
  within ? <Section {...within}>{children}</Section> : children;

export function GenevaForm({ rows, within }: SettingForm) {
  const { ids, only, form } = settingOf({ rows, within });
  const { packetSize = null, windowSize = null } = only?.geneva ?? {};
  const undo = useUndoNodes(
    rows,
    ({ geneva }) => geneva,
    nodes.geneva,
    (some, geneva) => ({ ids: some, ...geneva }),
  );
  return (
    <ResourceForm
      {...form}
      create={nodes.geneva}
      undo={undo}
      schema={Sizes}
      initial={{ ...(packetSize !== null && { packetSize }), ...(windowSize !== null && { windowSize }) }}
      wrap={(sizes) => ({ ids, packetSize: sizes['packetSize'] ?? null, windowSize: sizes['windowSize'] ?? null })}
    >
      <Fields within={within}>
        <NumberField name="packetSize" min={88} max={1460} suffix=" B" />
        <NumberField name="windowSize" min={1} max={65_535} suffix=" B" />
      </Fields>
    </ResourceForm>
  );
}

const times = ['0', '3600', '21600', '86400', '604800'];

export function LogRotateTimeForm({ rows, within, children }: SettingForm) {
  const { ids, only, form } = settingOf({ rows, within });
  const current = String(only?.logRotateSeconds ?? 86_400);
  const choices = [...new Set([...times, current])];
  const undo = useUndoNodes(
    rows,
    ({ logRotateSeconds }) => logRotateSeconds,
    nodes.logRotateTime,
    (some, seconds) => ({ ids: some, seconds }),
  );
  return (
    <ResourceForm
      {...form}
      create={nodes.logRotateTime}
      undo={undo}
      schema={z.object({ seconds: z.enum(choices) })}
      initial={{ seconds: current }}
      wrap={({ seconds }) => ({ ids, seconds: Number(seconds) })}
    >
      <Fields within={within}>
        <ChoiceField name="seconds" choices={choices} />
      </Fields>
      {children}
    </ResourceForm>
  );
}

const Role = z.object({ role: NodeRole });

export function RoleForm({ rows }: { rows: readonly EdgeNode[] }) {
  const { ids, only, form } = settingOf({ rows });
  const undo = useUndoNodes(
    rows,
    ({ role }) => role,
    nodes.role,
    (some, role) => ({ ids: some, role }),
  );
  return (
    <ResourceForm
      {...form}
      create={nodes.role}
      undo={undo}
      schema={Role}
      initial={{ role: only?.role === 'main' ? 'backup' : 'main' }}
      wrap={({ role }) => ({ ids, role })}
    >
      <ChoiceField name="role" segmented />
    </ResourceForm>
  );
}

/** Nodes of its zone that stand under no other, and are none themselves. */
export function AddSubsForm({ node }: { node: EdgeNode }) {
  const { data } = useEndpoint(nodes.list, { query: { zoneID: node.zoneID, pageSize: 500 } });
  const free = (data?.data ?? []).filter(
    ({ id, parentID, subCount }) => id !== node.id && parentID === null && subCount === 0,
  );
  return (
    <ResourceForm
      create={nodes.addSubs}
      params={{ nodeID: node.id }}
      words="nodes"
      submitLabel="nodes.subs.add"
      done="common.saved"
    >
      <ManyField name="ids" data={free.map(({ id, name }) => ({ value: id, label: name }))} />
    </ResourceForm>
  );
}

const Purge = z.object({ type: z.enum(['1', '2', '3', '4']), urls: NodePurge.shape.urls });

/** At these nodes alone; of a site everywhere it is the site's own purge. */
export function PurgeForm({ rows }: { rows: readonly EdgeNode[] }) {
  const t = useT();
  const ids = rows.map(({ id }) => id);
  return (
    <ResourceForm
      create={nodes.cache}
      schema={Purge}
      initial={{ type: '1' }}
      wrap={({ type, urls }) => ({ ids, type: Number(type), urls })}
      submitLabel="nodes.actions.purge"
      done="nodes.done.purged"
    >
      <p className={classes['note']}>{t('nodes.purgePoint')}</p>
      <ChoiceField name="type" segmented />
      <LinesField name="urls" rows={6} whole />
    </ResourceForm>
  );
}
