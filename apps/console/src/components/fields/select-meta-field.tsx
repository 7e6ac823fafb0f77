import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { Select } from '@mantine/core';
import { useT } from '../../lib/i18n.ts';
import { useField } from '../resource-form/form-state.ts';
import { useMeta } from '../../lib/use-meta.ts';
import { Label } from './label.tsx';

interface SelectMetaFieldProps {
  name: string;
  /** The call that gives the names: `zones.meta`. */
  meta: Endpoint;
  /** None may be chosen, which is sent as null. */
  nullable?: boolean;
}

/** One of many by name, found by typing. */
export function SelectMetaField({ name, meta, nullable = false }: SelectMetaFieldProps) {
  const t = useT();
  const { accepted, value, set, params, optional, input } = useField(name);
  const data = useMeta(meta, params);
  if (!accepted) return null;
  return (
    <div>
      <Select
        {...input}
        label={<Label text={input.label} optional={optional || nullable} />}
        data={data}
        searchable
        clearable={nullable}
        allowDeselect={false}
        limit={100}
        nothingFoundMessage={t('common.states.nothingMatches')}
        placeholder={t('common.form.choose')}
        value={typeof value === 'string' ? value : null}
        onChange={(next) => (next !== null || nullable) && set(next)}
      />
    </div>
  );
}
