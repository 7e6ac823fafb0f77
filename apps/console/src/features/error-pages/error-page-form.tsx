import { errorPages } from '@edgeloom/contract/error-pages/error-pages.endpoints.ts';
import { ErrorPageInput } from '@edgeloom/contract/error-pages/error-pages.ts';
import { Select } from '@mantine/core';
import { ChoiceField } from '../../components/fields/choice-field.tsx';
import { SwitchField } from '../../components/fields/switch-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { useField, useForm } from '../../components/resource-form/form-state.ts';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import type { RowOf } from '../../components/resource-table/columns.tsx';
import { useT } from '../../lib/i18n.ts';
import { choicesOf } from '../../lib/schema.ts';
import classes from './error-pages.module.css';
import { PagePreview } from './page-preview.tsx';

export type ErrorPage = RowOf<typeof errorPages.list>;

/** A starting point for custom pages. */
export const examplePage = '<!doctype html>\n<title>We are back soon</title>\n<h1>We are back soon</h1>\n';

export function ErrorPageForm({ siteId, value }: { siteId: string; value?: ErrorPage }) {
  return (
    <ResourceForm
      preview
      create={errorPages.create}
      update={errorPages.update}
      params={{ siteId }}
      value={value}
      initial={value ? {} : { code: 502, type: 'content', value: examplePage }}
      schema={ErrorPageInput}
      wrap={(page) => ({ errorPages: [value ? { id: value.id, ...page } : page] })}
      says={{ 101025: 'errorPages.taken' }}
    >
      <ErrorPageFields />
    </ResourceForm>
  );
}

/** Fields of a form with the texts of `errorPages`. */
export function ErrorPageFields() {
  return (
    <>
      <CodeField />
      <ChoiceField name="type" segmented />
      <ValueField />
      <SwitchField name="edgeOnly" />
      <SwitchField name="enabled" />
    </>
  );
}

function CodeField() {
  const t = useT();
  const { value, set, schema, input } = useField('code');
  const codes = choicesOf(schema).map(String);
  return (
    <div>
      <Select
        {...input}
        data={codes.map((code) => ({ value: code, label: `${code} ${t(`errorPages.choices.code.${codeOf(code)}`)}` }))}
        value={String(value)}
        allowDeselect={false}
        onChange={(code) => set(Number(code))}
      />
    </div>
  );
}

const codes = ['400', '403', '500', '502', '504', '903', '904', '929'] as const;
const codeOf = (text: string) => codes.find((code) => code === text) ?? '502';

function ValueField() {
  const t = useT();
  const { values } = useForm();
  const { type, value } = values;
  if (type === 'redirect') return <TextField name="value" mono placeholder="https://www.example.com/sorry" />;
  return (
    <>
      <TextField name="value" mono long />
      {type === 'javascript' ? (
        <p className={classes['note']}>{t('errorPages.scriptNote')}</p>
      ) : (
        <PagePreview html={typeof value === 'string' ? value : ''} />
      )}
    </>
  );
}
