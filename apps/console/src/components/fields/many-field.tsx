import { MultiSelect } from '@mantine/core';
import { useT } from '../../lib/i18n.ts';
import type { Choice } from '../../lib/use-meta.ts';
import { useField } from '../resource-form/form-state.ts';

interface ManyFieldProps {
  name: string;
  data: readonly (string | Choice)[];
  editable?: boolean;
}

/** Any number of known things, found by typing. */
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
        limit={100}
        nothingFoundMessage={t('common.states.nothingMatches')}
        value={Array.isArray(value) ? value.map(String) : []}
        onChange={set}
        error={input.error ?? [...inner.values()][0] ?? null}
      />
    </div>
  );
}
