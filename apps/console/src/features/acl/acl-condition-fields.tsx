import { operatorsOf } from '@edgeloom/contract/acl/acl.ts';
import { ActionIcon, Checkbox, Select, Textarea, TextInput } from '@mantine/core';
import { IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { If } from '../../components/sentence/sentence.tsx';
import { useT } from '../../lib/i18n.ts';
import classes from './acl.module.css';
import {
  fieldNames,
  fieldOf,
  isList,
  textOf,
  typeOf,
  valueOf,
  withField,
  withOperator,
  type Condition,
} from './acl-draft.ts';

interface AclConditionFieldsProps {
  n: number;
  only: boolean;
  condition: Condition;
  fault: (field: string) => string | undefined;
  onChange: (condition: Condition) => void;
  onRemove: () => void;
}

export function AclConditionFields({ n, only, condition, fault, onChange, onRemove }: AclConditionFieldsProps) {
  const t = useT();
  const { field, name } = fieldOf(condition);
  const operators = operatorsOf[typeOf(condition)];
  return (
    <li className={classes['condition']}>
      <div className={classes['join']}>
        {n === 1 ? (
          <If />
        ) : (
          <Select
            aria-label={t('acls.nth.join', { n })}
            data={[
              { value: 'and', label: t('shared.rule.and') },
              { value: 'or', label: t('shared.rule.or') },
            ]}
            value={condition.join}
            allowDeselect={false}
            onChange={(next) => onChange({ ...condition, join: next === 'or' ? 'or' : 'and' })}
          />
        )}
      </div>
      <div className={classes['subject']}>
        <Select
          aria-label={t('acls.nth.field', { n })}
          data={fieldNames.map((one) => ({ value: one, label: t(`acls.choices.field.${one}`) }))}
          value={field}
          allowDeselect={false}
          error={name === null ? fault('field') : undefined}
          onChange={(next) => onChange(withField(condition, fieldNames.find((one) => one === next) ?? 'path'))}
        />
        {name !== null && (
          <TextInput
            aria-label={t('acls.nth.key', { n })}
            placeholder={t('acls.key')}
            classNames={{ input: classes['mono'] ?? '' }}
            value={name}
            error={fault('field')}
            onChange={({ currentTarget }) => onChange({ ...condition, field: `${field}${currentTarget.value}` })}
          />
        )}
      </div>
      <Select
        aria-label={t('acls.nth.operator', { n })}
        data={operators.map((one) => ({ value: one, label: t(`acls.choices.operator.${one}`) }))}
        value={condition.operator}
        allowDeselect={false}
        error={fault('operator')}
        onChange={(next) =>
          onChange(withOperator(condition, operators.find((one) => one === next) ?? operators[0] ?? 'equal'))
        }
      />
      <ValueFields key={condition.operator} n={n} condition={condition} fault={fault('value')} onChange={onChange} />
      <ActionIcon aria-label={t('acls.nth.removeCondition', { n })} disabled={only} onClick={onRemove}>
        <IconX size={15} stroke={1.6} />
      </ActionIcon>
    </li>
  );
}

interface ValueFieldsProps {
  n: number;
  condition: Condition;
  fault: string | undefined;
  onChange: (condition: Condition) => void;
}

function ValueFields({ n, condition, fault, onChange }: ValueFieldsProps) {
  const t = useT();
  // Empty lines while typing are no values.
  const [text, setText] = useState(textOf(condition));
  const shared = {
    'aria-label': t('acls.nth.value', { n }),
    classNames: { input: classes['mono'] ?? '' },
    spellCheck: false,
    error: fault,
    value: text,
  };
  const change = (next: string) => {
    setText(next);
    onChange({ ...condition, value: valueOf(condition, next) });
  };
  if (condition.operator === 'exists')
    return (
      <Checkbox
        label={t('acls.isThere')}
        checked={condition.value === true}
        onChange={({ currentTarget }) => onChange({ ...condition, value: currentTarget.checked })}
      />
    );
  return (
    <div className={classes['value']}>
      {isList(condition) ? (
        <Textarea
          {...shared}
          autosize
          minRows={2}
          maxRows={10}
          placeholder={typeOf(condition) === 'address' ? '192.0.2.0/24' : t('common.form.oneALine')}
          onChange={({ currentTarget }) => change(currentTarget.value)}
        />
      ) : (
        <TextInput {...shared} onChange={({ currentTarget }) => change(currentTarget.value)} />
      )}
      {typeOf(condition) === 'text' && condition.operator !== 'matches' && (
        <Checkbox
          size="xs"
          label={t('acls.ignoreCase')}
          checked={condition.ignoreCase}
          onChange={({ currentTarget }) => onChange({ ...condition, ignoreCase: currentTarget.checked })}
        />
      )}
    </div>
  );
}
