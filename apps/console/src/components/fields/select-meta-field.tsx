import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { useMetaSearch } from '../../lib/use-meta.ts';
import { useField } from '../resource-form/form-state.ts';
import { Label } from './label.tsx';
import { MetaSelect } from './meta-select.tsx';

interface SelectMetaFieldProps {
  name: string;
  /** The call that gives the names: `zones.meta`. */
  meta: Endpoint;
  /** None may be chosen, which is sent as null. */
  nullable?: boolean;
}

/** One of many by name, found by typing. */
export function SelectMetaField({ name, meta, nullable = false }: SelectMetaFieldProps) {
  const { accepted, value, set, params, optional, input } = useField(name);
  const id = typeof value === 'string' ? value : null;
  const choices = useMetaSearch(meta, { params, chosen: id === null ? [] : [id], enabled: accepted });
  if (!accepted) return null;
  return (
    <div>
      <MetaSelect
        {...input}
        label={<Label text={input.label} optional={optional || nullable} />}
        choices={choices}
        clearable={nullable}
        allowDeselect={false}
        value={id}
        onChange={(next) => (next !== null || nullable) && set(next)}
      />
    </div>
  );
}
