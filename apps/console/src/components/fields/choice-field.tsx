import { SegmentedControl, Input, Select } from '@mantine/core';
import { tMaybe, useT } from '../../lib/i18n.ts';
import { choicesOf } from '../../lib/schema.ts';
import { useField, useForm } from '../resource-form/form-state.ts';

interface ChoiceFieldProps {
  name: string;
  /** Defaults to the values of the schema's enum. */
  choices?: readonly string[];
  /** A segmented control, for up to three short choices. */
  segmented?: boolean;
}

export function ChoiceField({ name, choices, segmented = false }: ChoiceFieldProps) {
  const t = useT();
  const { words } = useForm();
  const { accepted, value, set, schema, input } = useField(name);
  if (!accepted) return null;
  const data = (choices ?? choicesOf(schema).map(String)).map((choice) => ({
    value: choice,
    label: tMaybe(`${words}.choices.${name}.${choice}`) ?? choice,
  }));
  const current = value === undefined || value === null ? null : String(value);
  if (segmented)
    return (
      <Input.Wrapper
        id={input.id}
        label={input.label}
        description={input.description}
        error={input.error}
        labelElement="div"
      >
        <div>
          <SegmentedControl
            aria-label={input.label}
            data={data}
            value={current ?? ''}
            onChange={set}
            disabled={input.disabled}
          />
        </div>
      </Input.Wrapper>
    );
  // Select's hidden input would count as a grid child.
  return (
    <div>
      <Select
        {...input}
        data={data}
        value={current}
        onChange={(next) => next !== null && set(next)}
        allowDeselect={false}
        placeholder={t('common.form.choose')}
        comboboxProps={{ withinPortal: true }}
      />
    </div>
  );
}
