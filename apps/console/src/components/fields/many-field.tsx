import type { Endpoint } from '@edgeloom/contract/endpoint.ts';
import { MultiSelect } from '@mantine/core';
import { useT } from '../../lib/i18n.ts';
import { useMetaSearch, type Choice } from '../../lib/use-meta.ts';
import { useField } from '../resource-form/form-state.ts';
import { MetaMultiSelect } from './meta-select.tsx';

interface ManyFieldProps {
  name: string;
  data: readonly (string | Choice)[];
  editable?: boolean;
}

/** Multi-select of given options. */
export function ManyField({ name, data, editable = true }: ManyFieldProps) {
  const t = useT();
  const { value, set, inner, input } = useField(name);
  return (
    <div>
      <MultiSelect
        {...input}
        disabled={input.disabled || !editable}
        data={[...data]}
        searchable={data.length > 5}
        clearable
        hidePickedOptions
        nothingFoundMessage={t('common.states.nothingMatches')}
        value={Array.isArray(value) ? value.map(String) : []}
        onChange={set}
        error={input.error ?? [...inner.values()][0] ?? null}
      />
    </div>
  );
}

interface ManyMetaFieldProps {
  name: string;
  /** Endpoint that lists the options, such as `zones.meta`. */
  meta: Endpoint;
  /** Fixed parts of the query: `{ zoneID }`. */
  query?: Readonly<Record<string, unknown>>;
  /** Id that is not offered, such as the edited row's own. */
  except?: string;
  editable?: boolean;
}

/** Multi-select with server-side search. */
export function ManyMetaField({ name, meta, query, except, editable = true }: ManyMetaFieldProps) {
  const { value, set, inner, input } = useField(name);
  const chosen = Array.isArray(value) ? value.map(String) : [];
  const choices = useMetaSearch(meta, { chosen, ...(query && { query }) });
  return (
    <div>
      <MetaMultiSelect
        {...input}
        disabled={input.disabled || !editable}
        choices={choices}
        isOffered={(choice) => choice.value !== except}
        value={chosen}
        onChange={set}
        error={input.error ?? [...inner.values()][0] ?? null}
      />
    </div>
  );
}
