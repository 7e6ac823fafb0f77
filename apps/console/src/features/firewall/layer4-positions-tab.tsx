import { layer4Positions } from '@edgeloom/contract/layer4-rules/layer4-rules.endpoints.ts';
import { ForwardPort } from '@edgeloom/contract/ports/ports.ts';
import { Input, SegmentedControl } from '@mantine/core';
import { IconArrowsSort } from '@tabler/icons-react';
import * as z from 'zod';
import { NumberField } from '../../components/fields/number-field.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { edit, remove } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { useT } from '../../lib/i18n.ts';
import { RulePort } from './layer4-rule-port.tsx';

type Position = RowOf<typeof layer4Positions.list>;
interface FormProps {
  siteId: string;
  value?: Position;
}

const orders = ['black', 'white'] as const;
type Order = (typeof orders)[number];
const orderOf = ({ blackPos }: Position): Order => (blackPos === 1 ? 'black' : 'white');
/**
 * The two places as one choice, which cannot contradict itself. A new row has the block list first: without a row, the
 * allow list is.
 */
const Fields = z.object({ port: ForwardPort, order: z.enum(orders).default('black') });

export function Layer4PositionForm({ siteId, value }: FormProps) {
  return (
    <ResourceForm
      create={layer4Positions.create}
      update={layer4Positions.update}
      params={{ siteId }}
      value={value && { id: value.id, port: value.port, order: orderOf(value) }}
      schema={Fields}
      words="layer4Positions"
      wrap={({ port, order }) => ({
        ...(value && { id: value.id }),
        port,
        ...(order === 'white' ? { blackPos: 2, whitePos: 1 } : { blackPos: 1, whitePos: 2 }),
      })}
    >
      <NumberField name="port" plain />
      <OrderField />
    </ResourceForm>
  );
}

function OrderField() {
  const t = useT();
  const { value, set, input } = useField('order');
  const order = value === 'white' ? 'white' : 'black';
  return (
    <Input.Wrapper
      id={input.id}
      label={input.label}
      description={t(`layer4Positions.orderHints.${order}`)}
      labelElement="div"
    >
      <div>
        <SegmentedControl
          aria-label={input.label}
          value={order}
          data={orders.map((one) => ({ value: one, label: t(`layer4Positions.choices.order.${one}`) }))}
          onChange={set}
          disabled={input.disabled}
        />
      </div>
    </Input.Wrapper>
  );
}

/** Which of the layer-4 lists comes first, per port. */
export function Layer4PositionsTab({ siteId, create }: { siteId: string; create: React.ReactNode }) {
  const t = useT();
  const columns: Column<Position>[] = [
    {
      key: 'port',
      sort: false,
      render: (row) => <RulePort of={row} notForwarded={t('layer4Positions.notForwarded')} />,
      text: ({ port }) => String(port),
    },
    {
      key: 'order',
      title: 'layer4Positions.fields.order',
      sort: false,
      flexible: true,
      render: (row) => t(`layer4Positions.choices.order.${orderOf(row)}`),
      text: (row) => t(`layer4Positions.choices.order.${orderOf(row)}`),
    },
    { key: 'updatedAt', as: 'time', priority: 3 },
  ];
  const removing = remove<Position, typeof layer4Positions.remove>(layer4Positions.remove);
  return (
    <ResourceTable
      endpoint={layer4Positions.list}
      params={{ siteId }}
      columns={columns}
      caption="firewall.tabs.layer4Positions"
      row={(row) => [
        edit(<Layer4PositionForm siteId={siteId} value={row} />, { can: layer4Positions.update.can }),
        removing,
      ]}
      bulk={[removing]}
      phone={(row) => ({ below: t(`layer4Positions.choices.order.${orderOf(row)}`) })}
      empty={{ icon: IconArrowsSort, action: create }}
    />
  );
}
