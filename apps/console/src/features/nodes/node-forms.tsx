import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { Geneva, NodePurge, NodeRole } from '@edgeloom/contract/nodes/nodes.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import type { ReactNode } from 'react';
import * as z from 'zod';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { LinesField } from '../../components/fields/lines-field.tsx';
import { ManyMetaField } from '../../components/fields/many-field.tsx';
import { NumberField } from '../../components/fields/number-field.tsx';
import { SelectMetaField } from '../../components/fields/select-meta-field.tsx';
import { Section } from '../../components/page/section.tsx';
import { backTo } from '../../components/resource-table/actions.tsx';
import { useReverse } from '../../components/resource-table/use-reverse.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { useT, type Word } from '../../lib/i18n.ts';
import type { EdgeNode } from './node-states.ts';
import classes from './nodes.module.css';

/** Restores the present value of each node. */
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

/** Moving changes sites, keys and NATS subjects. */
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
/** Empty means the operating system's default. */
const Sizes = z.object({ packetSize: packetSize.unwrap().optional(), windowSize: windowSize.unwrap().optional() });

/** A setting of nodes. In a page section it starts with the node's value and uses the save bar. */
interface SettingForm {
  rows: readonly EdgeNode[];
  within?: { title: Word; why: Word } | undefined;
  /** Content below the fields. */
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

/** Offers nodes of the same zone that neither are nor have sub-nodes. */
export function AddSubsForm({ node }: { node: EdgeNode }) {
  return (
    <ResourceForm
      create={nodes.addSubs}
      params={{ nodeID: node.id }}
      words="nodes"
      submitLabel="nodes.subs.add"
      done="common.saved"
    >
      <ManyMetaField name="ids" meta={nodes.meta} query={{ zoneID: node.zoneID, standalone: true }} except={node.id} />
    </ResourceForm>
  );
}

const Purge = z.object({ type: z.enum(['1', '2', '3', '4']), urls: NodePurge.shape.urls });

/** Purges only at these nodes. */
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
