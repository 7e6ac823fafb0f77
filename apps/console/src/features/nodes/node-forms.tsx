import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { Geneva, NodePurge } from '@edgeloom/contract/nodes/nodes.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import * as z from 'zod';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { LinesField } from '../../components/fields/lines-field.tsx';
import { ManyField } from '../../components/fields/many-field.tsx';
import { NumberField } from '../../components/fields/number-field.tsx';
import { SelectMetaField } from '../../components/fields/select-meta-field.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import type { EdgeNode } from './node-states.ts';
import classes from './nodes.module.css';

/** Another zone is other sites, other keys and another name on the bus. */
export function MoveForm({ ids }: { ids: readonly string[] }) {
  const t = useT();
  return (
    <ResourceForm
      create={nodes.moveToZone}
      initial={{ ids }}
      refreshes={['zones']}
      submitLabel="nodes.actions.move"
      done="nodes.done.moved"
    >
      <p className={classes['note']}>{t('nodes.movePoint')}</p>
      <SelectMetaField name="zoneID" meta={zones.meta} />
    </ResourceForm>
  );
}

const { packetSize, windowSize } = Geneva.shape;
/** An empty box is what the system does by itself. */
const Sizes = z.object({ packetSize: packetSize.unwrap().optional(), windowSize: windowSize.unwrap().optional() });

export function GenevaForm({ node }: { node: EdgeNode }) {
  const { packetSize, windowSize } = node.geneva;
  return (
    <ResourceForm
      create={nodes.geneva}
      schema={Sizes}
      initial={{ ...(packetSize !== null && { packetSize }), ...(windowSize !== null && { windowSize }) }}
      wrap={(sizes) => ({
        ids: [node.id],
        packetSize: sizes['packetSize'] ?? null,
        windowSize: sizes['windowSize'] ?? null,
      })}
      submitLabel="common.save"
      done="common.saved"
    >
      <NumberField name="packetSize" min={88} max={1460} suffix=" B" />
      <NumberField name="windowSize" min={1} max={65_535} suffix=" B" />
    </ResourceForm>
  );
}

const times = ['0', '3600', '21600', '86400', '604800'];

export function LogRotateTimeForm({ node }: { node: EdgeNode }) {
  const current = String(node.logRotateSeconds);
  return (
    <ResourceForm
      create={nodes.logRotateTime}
      schema={z.object({ seconds: z.enum([...times, current]) })}
      initial={{ seconds: current }}
      wrap={({ seconds }) => ({ ids: [node.id], seconds: Number(seconds) })}
      submitLabel="common.save"
      done="common.saved"
    >
      <ChoiceField name="seconds" choices={[...new Set([...times, current])]} />
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
export function PurgeForm({ ids }: { ids: readonly string[] }) {
  const t = useT();
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
