import { asksValue, HeaderOperator } from '@edgeloom/contract/hotlink/hotlink.ts';
import { Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { EditorProps } from '../../components/rules/rule-list.tsx';
import classes from '../../components/rules/rules.module.css';
import { ruleText } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { ActionSelect } from './action-select.tsx';
import { faultsOf, type HeaderDraft } from './header-draft.ts';

const actions = ['deny', 'drop'] as const;

export function HeaderEditor({ rule, tried, onChange }: EditorProps<HeaderDraft>) {
  const t = useT();
  const [touched, setTouched] = useState<readonly string[]>(rule.id === null ? [] : ['name', 'value']);
  const faults = faultsOf(rule);
  const set = (part: Partial<HeaderDraft>) => onChange({ ...rule, ...part });
  const text = (field: 'name' | 'value') => {
    const issue = tried || touched.includes(field) ? faults[field] : undefined;
    return {
      'aria-label': t(`hotlink.fields.${field}`),
      value: rule[field],
      error: issue && ruleText(issue.rule, issue.message, issue.values),
      spellCheck: false,
      autoCapitalize: 'off',
      classNames: { input: classes['mono'] ?? '' },
      onBlur: () => setTouched([...touched, field]),
      onChange: ({ currentTarget }: { currentTarget: { value: string } }) => set({ [field]: currentTarget.value }),
    };
  };
  return (
    <div className={classes['editor']}>
      <span className={classes['joint']}>{t('shared.rule.if')}</span>
      <div className={classes['condition']}>
        <div className={classes['type']}>
          <TextInput {...text('name')} placeholder="User-Agent" />
        </div>
        <div className={classes['type']}>
          <Select
            aria-label={t('hotlink.fields.operator')}
            data={HeaderOperator.options.map((value) => ({ value, label: t(`hotlink.choices.operator.${value}`) }))}
            value={rule.operator}
            allowDeselect={false}
            onChange={(value) => set({ operator: HeaderOperator.options.find((one) => one === value) ?? 'equal' })}
          />
        </div>
        {asksValue(rule.operator) && (
          <div className={classes['values']}>
            <TextInput
              {...text('value')}
              placeholder={t(`hotlink.hints.${rule.operator === 'matches' ? 'pattern' : 'value'}`)}
            />
          </div>
        )}
      </div>
      <span className={classes['joint']}>{t('shared.rule.then')}</span>
      <div className={classes['condition']}>
        <div className={classes['type']}>
          <ActionSelect actions={actions} value={rule.action} onChange={(action) => set({ action })} />
        </div>
      </div>
    </div>
  );
}
