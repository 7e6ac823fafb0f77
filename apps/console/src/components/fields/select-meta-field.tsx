import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { useMetaSearch } from '../../lib/use-meta.ts';
import { useField } from '../resource-form/form-state.ts';
import { Label } from './label.tsx';
import { MetaSelect } from './meta-select.tsx';

interface SelectMetaFieldProps {
  name: string;
  /** Endpoint that lists the options, such as `zones.meta`. */
  meta: Endpoint;
  /** Allows no selection, sent as null. */
  nullable?: boolean;
}

/** Select with server-side search. */
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
