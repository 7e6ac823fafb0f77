import { nodes } from '@edgeloom/contract/nodes/nodes.endpoints.ts';
import { EdgeNode as EdgeNodeSchema, JoinToken } from '@edgeloom/contract/nodes/nodes.ts';
import { zones } from '@edgeloom/contract/zones/zones.endpoints.ts';
import { NumberInput } from '@mantine/core';
import { useState } from 'react';
import * as z from 'zod';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { NumberField } from '../../components/fields/number-field.tsx';
import { SelectMetaField } from '../../components/fields/select-meta-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { t } from '../../lib/i18n.ts';
import { JoinPanel } from './join-panel.tsx';
import type { EdgeNode } from './node-states.ts';

const Made = EdgeNodeSchema.pick({ id: true, name: true, ip: true, ssh: true }).extend({
  command: JoinToken.shape.command,
  expiresAt: z.string(),
});

interface NodeFormProps {
  value?: EdgeNode;
  /** Chosen already, where the form is opened in a zone. */
  zoneID?: string;
}

/** A new node is not there yet: the form goes on to how it is brought. */
export function NodeForm({ value, zoneID }: NodeFormProps) {
  const overlay = useOverlay();
  const onMade = (reply: unknown) => {
    if (value) return;
    const made = Made.parse(reply);
    overlay(<JoinPanel node={made} token={made} />, { title: { text: t('nodes.join.title', { name: made.name }) } });
  };
  return (
    <ResourceForm
      create={nodes.create}
      update={nodes.update}
      // What it is reached by is not shown again, and belongs to its installation.
      value={value && { ...value, ssh: undefined }}
      refreshes={['zones']}
      onDone={onMade}
      {...(zoneID && { initial: { zoneID } })}
    >
      <TextField name="name" />
      <TextField name="ip" />
      <SelectMetaField name="zoneID" meta={zones.meta} />
      <ChoiceField name="kind" segmented />
      <RelayPortField />
      <ChoiceField name="role" segmented />
      <ChoiceField name="portType" segmented />
      <NumberField name="bandwidthMbps" min={0} suffix=" Mbps" />
      <GigabytesField name="cacheMaxBytes" />
      <TextField name="cacheDir" />
      <TextField name="memo" />
    </ResourceForm>
  );
}

function RelayPortField() {
  return useField('kind').value === 'relay' && <NumberField name="relayPort" plain />;
}

const GB = 1_000_000_000;

const bytesOf = (typed: string | number) => (typed === '' ? undefined : Math.round(Number(typed) * GB));

/** Stored in bytes, typed in GB. What is typed is kept beside it: `1.` is on its way to `1.5`. */
export function GigabytesField({ name }: { name: string }) {
  const { accepted, value, set, input } = useField(name);
  const [typed, setTyped] = useState<string | number>('');
  if (!accepted) return null;
  const shown = bytesOf(typed) === value ? typed : typeof value === 'number' ? value / GB : '';
  return (
    <NumberInput
      {...input}
      value={shown}
      min={0}
      clampBehavior="none"
      decimalScale={2}
      onChange={(next) => {
        setTyped(next);
        set(bytesOf(next));
      }}
    />
  );
}
