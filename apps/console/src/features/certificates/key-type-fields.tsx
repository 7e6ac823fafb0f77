import { Input, SegmentedControl } from '@mantine/core';
import { useT } from '../../lib/i18n.ts';
import { useField, type Field } from '../../components/resource-form/form-state.ts';

/** Selects one key type. */
export function KeyTypeField({ name }: { name: string }) {
  const field = useField(name);
  return <Choice field={field} choices={['ecdsa', 'rsa']} value={String(field.value)} onChange={field.set} />;
}

/** Selects one or both key types. */
export function KeyTypesField({ name }: { name: string }) {
  const field = useField(name);
  const chosen = Array.isArray(field.value) ? field.value.map(String) : [];
  return (
    <Choice
      field={field}
      choices={['ecdsa', 'rsa', 'both']}
      value={chosen.length > 1 ? 'both' : (chosen[0] ?? 'ecdsa')}
      onChange={(next) => field.set(next === 'both' ? ['ecdsa', 'rsa'] : [next])}
    />
  );
}

interface ChoiceProps {
  field: Field;
  choices: readonly ('ecdsa' | 'rsa' | 'both')[];
  value: string;
  onChange: (value: string) => void;
}

function Choice({ field: { accepted, input }, choices, value, onChange }: ChoiceProps) {
  const t = useT();
  if (!accepted) return null;
  const data = choices.map((choice) => ({ value: choice, label: t(`certificates.choices.keyType.${choice}`) }));
  return (
    <Input.Wrapper label={input.label} description={input.description} error={input.error} labelElement="div">
      <div>
        <SegmentedControl
          aria-label={input.label}
          data={data}
          value={value}
          onChange={onChange}
          disabled={input.disabled}
        />
      </div>
    </Input.Wrapper>
  );
}
