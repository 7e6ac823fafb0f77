import { NumberInput } from '@mantine/core';
import { IfPath } from '../../components/rules/path-condition.tsx';
import type { EditorProps } from '../../components/rules/rule-list.tsx';
import classes from '../../components/rules/rules.module.css';
import { ruleText } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { faultsOf, type RateDraft } from './rate-draft.ts';

const types = ['all', 'fileType', 'prefix', 'url', 'regex'] as const;

export function RateEditor({ rule, tried, onChange }: EditorProps<RateDraft>) {
  const t = useT();
  const faults = faultsOf(rule);
  const errorOf = (field: keyof typeof faults) => {
    const issue = faults[field];
    return issue && ruleText(issue.rule, issue.message, issue.values);
  };
  const set = (part: Partial<RateDraft>) => onChange({ ...rule, ...part });
  const number = (field: 'rate' | 'after') => (
    <NumberInput
      label={t(`rates.fields.${field}`)}
      suffix={t(`rates.units.${field}`)}
      value={rule[field]}
      min={0}
      allowDecimal={false}
      hideControls
      clampBehavior="none"
      w={150}
      error={errorOf(field)}
      onChange={(value) => set({ [field]: Number(value) || 0 })}
    />
  );
  return (
    <div className={classes['editor']}>
      <IfPath of={rule} types={types} fault={errorOf('value')} tried={tried} onChange={set} />
      <span className={classes['joint']} data-low>
        {t('shared.rule.then')}
      </span>
      <div className={classes['effects']}>
        {number('rate')}
        {number('after')}
      </div>
    </div>
  );
}
