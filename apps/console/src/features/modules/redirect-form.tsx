import { redirects } from '@edgeloom/contract/modules/modules.endpoints.ts';
import { RedirectInput } from '@edgeloom/contract/modules/redirects.ts';
import { Select } from '@mantine/core';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { NumberField } from '../../components/fields/number-field.tsx';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { useField } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import type { RowOf } from '../../components/resource-table/columns.tsx';
import { useT } from '../../lib/i18n.ts';

export type Redirect = RowOf<typeof redirects.list>;

export interface InModule {
  siteId: string;
  moduleId: string;
}

export function RedirectForm({ at, value }: { at: InModule; value?: Redirect }) {
  return (
    <ResourceForm
      preview
      create={redirects.create}
      update={redirects.update}
      params={{ ...at }}
      value={value}
      initial={value ? {} : { type: 'exact' }}
      schema={RedirectInput}
      wrap={(rule) => ({ redirects: [value ? { id: value.id, ...rule } : rule] })}
      says={{ 101025: 'redirects.twice' }}
      refreshes={['urlRedirects']}
    >
      <Fields />
    </ResourceForm>
  );
}

function Fields() {
  const { value: type } = useField('type');
  return (
    <>
      <ChoiceField name="type" segmented />
      <TextField name="source" placeholder={type === 'regex' ? '^/news/([0-9]+)$' : '/old'} mono />
      <TextField name="target" placeholder={type === 'regex' ? '/articles/$1' : '/new'} mono />
      <CodeField />
      <SwitchField name="keepQuery" />
      {type === 'prefix' && <SwitchField name="keepRest" />}
      {type === 'regex' && <NumberField name="priority" min={0} max={10_000} />}
      <SwitchField name="enabled" />
    </>
  );
}

const codes = [301, 302, 307, 308] as const;

/** A number in the API, a select in the form. */
function CodeField() {
  const t = useT();
  const { value, set, input } = useField('code');
  return (
    <div>
      <Select
        {...input}
        data={codes.map((code) => ({ value: String(code), label: t(`redirects.choices.code.${code}`) }))}
        value={String(value)}
        allowDeselect={false}
        onChange={(next) => set(Number(next))}
      />
    </div>
  );
}
