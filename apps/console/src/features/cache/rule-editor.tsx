import { Checkbox, NumberInput, Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { IfPath, wordsOf } from '../../components/rules/path-condition.tsx';
import type { EditorProps } from '../../components/rules/rule-list.tsx';
import classes from '../../components/rules/rules.module.css';
import { ruleText } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { isUnit, secondsOf, inLargestUnit, units, type Unit } from './cache-time.ts';
import { MoreOptions, type ErrorOf } from './more-options.tsx';
import { actionOf, actions, faultsOf, type DraftRule, type Rule } from './rules-draft.ts';

const types = ['fileType', 'url', 'prefix', 'regex'] as const satisfies readonly Rule['type'][];
const queries = ['all', 'none', 'listed', 'sorted'] as const satisfies readonly Rule['query'][];
/** The origin gets only what is in the cache key. */
const queryHints = {
  none: 'cache.hints.queryNone',
  listed: 'cache.hints.queryListed',
  sorted: 'cache.hints.querySorted',
} as const;

/** Condition and cache time of a rule, below its sentence. */
export function RuleEditor({ rule, tried, onChange }: EditorProps<DraftRule>) {
  const t = useT();
  // Keep the text as typed, so that a trailing space does not vanish.
  const [names, setNames] = useState(rule.queryNames.join(' '));
  const [unit, setUnit] = useState<Unit>(inLargestUnit(rule.cacheTime || 86_400).unit);
  const faults = faultsOf(rule);
  const errorOf: ErrorOf = (field) => {
    const issue = faults[field];
    return issue && ruleText(issue.rule, issue.message, issue.values);
  };
  const set = (part: Partial<DraftRule>) => onChange({ ...rule, ...part });
  const action = actionOf(rule);
  const count = rule.cacheTime / secondsOf(1, unit);
  return (
    <div className={classes['editor']}>
      <IfPath of={rule} types={types} fault={errorOf('value')} tried={tried} onChange={set} />
      <span className={classes['joint']} data-low>
        {t('shared.rule.then')}
      </span>
      <div className={classes['effects']}>
        <Select
          label={t('cache.fields.action')}
          data={actions.map((value) => ({ value, label: t(`cache.choices.action.${value}`) }))}
          value={action}
          allowDeselect={false}
          w={150}
          onChange={(value) =>
            set({ cacheTime: value === 'cache' ? secondsOf(1, unit) : 0, honourOrigin: value === 'origin' })
          }
        />
        {action === 'cache' && (
          <>
            <NumberInput
              label={t('cache.fields.cacheTime')}
              value={count}
              min={1}
              allowDecimal={false}
              hideControls
              clampBehavior="none"
              w={84}
              error={errorOf('cacheTime')}
              onChange={(value) => set({ cacheTime: secondsOf(Number(value) || 0, unit) || 1 })}
            />
            <Select
              label={t('cache.fields.unit')}
              data={units.map((value) => ({ value, label: t(`cache.choices.unit.${value}`) }))}
              value={unit}
              allowDeselect={false}
              w={110}
              onChange={(value) => {
                if (!isUnit(value)) return;
                setUnit(value);
                set({ cacheTime: secondsOf(count, value) });
              }}
            />
          </>
        )}
        {action !== 'never' && (
          <>
            <Select
              label={t('cache.fields.query')}
              description={rule.query !== 'all' && t(queryHints[rule.query])}
              data={queries.map((value) => ({ value, label: t(`cache.choices.query.${value}`) }))}
              value={rule.query}
              allowDeselect={false}
              w={190}
              onChange={(value) => set({ query: queries.find((name) => name === value) ?? 'all' })}
            />
            {rule.query === 'listed' && (
              <TextInput
                label={t('cache.fields.queryNames')}
                placeholder={t('cache.edit.names')}
                value={names}
                error={errorOf('queryNames')}
                spellCheck={false}
                classNames={{ input: classes['mono'] ?? '' }}
                onChange={({ currentTarget }) => {
                  setNames(currentTarget.value);
                  set({ queryNames: wordsOf(currentTarget.value) });
                }}
              />
            )}
            {action === 'cache' && (
              <Checkbox
                className={classes['check'] ?? ''}
                label={t('cache.fields.honourOrigin')}
                checked={rule.honourOrigin}
                onChange={({ currentTarget }) => set({ honourOrigin: currentTarget.checked })}
              />
            )}
          </>
        )}
      </div>
      <MoreOptions rule={rule} tried={tried} set={set} errorOf={errorOf} />
    </div>
  );
}
