import { groups } from '@edgeloom/contract/groups/groups.endpoints.ts';
import { DEFAULT_LINE, Placement } from '@edgeloom/contract/groups/groups.ts';
import { Select } from '@mantine/core';
import { useMemo } from 'react';
import type * as z from 'zod';
import { NumberField } from '../../components/fields/number-field.tsx';
import { SelectMetaField } from '../../components/fields/select-meta-field.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { useFirstChoice } from '../../lib/use-meta.ts';
import { USUAL_WEIGHT } from './board.ts';
import { allLines, lineName } from './line-name.ts';
import { undoPlacements } from './undo-placements.ts';

const Place = Placement.omit({ nodeUID: true });
type Place = z.output<typeof Place>;

/** A form for one cell, for pages that show a node without the board. */
export function PutOnLine({ zoneId, nodeID }: { zoneId: string; nodeID: string }) {
  const first = useFirstChoice(groups.meta, { zoneId });
  const { data: board } = useEndpoint(groups.board, { params: { zoneId } });
  const changeOf = (place: Place) => ({ ...place, nodeUID: `n-${nodeID}` });
  return (
    <ResourceForm
      create={groups.place}
      params={{ zoneId }}
      schema={Place}
      initial={{ groupID: first?.value, line: DEFAULT_LINE, weight: USUAL_WEIGHT }}
      wrap={(values) => ({ changes: [changeOf(Place.parse(values))] })}
      refreshes={['nodes']}
      submitLabel="groups.publish"
      done="groups.published"
      {...(board && { undo: (values) => undoPlacements(zoneId, board, [changeOf(Place.parse(values))]) })}
    >
      <SelectMetaField name="groupID" meta={groups.meta} />
      <LineField />
      <NumberField name="weight" min={0} max={100} />
    </ResourceForm>
  );
}

function LineField() {
  const t = useT();
  const { value, set, input } = useField('line');
  const data = useMemo(() => [DEFAULT_LINE, ...allLines()].map((line) => ({ value: line, label: lineName(line) })), []);
  return (
    <div>
      <Select
        {...input}
        data={data}
        searchable
        allowDeselect={false}
        nothingFoundMessage={t('common.states.nothingMatches')}
        value={typeof value === 'string' ? value : null}
        onChange={(next) => next !== null && set(next)}
      />
    </div>
  );
}
