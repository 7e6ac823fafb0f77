import { Checkbox, NumberInput, Select, TextInput } from '@mantine/core';
import type { ReactNode } from 'react';
import type { EditorProps } from '../../components/rules/rule-list.tsx';
import classes from '../../components/rules/rules.module.css';
import { ruleText } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import type { Issue } from '../../lib/schema.ts';
import {
  countedBy,
  frequencyFaults,
  headerOf,
  limitConnFaults,
  limitReqFaults,
  sourceOf,
  type CountedBy,
  type FrequencyDraft,
  type LimitConnDraft,
  type LimitDraft,
  type LimitReqDraft,
  type Source,
} from './limit-drafts.ts';

const types = [1, 2, 3, 4, 'cookie', 'arg'] as const;
const concurrencyTypes = [1, 4, 'cookie', 'arg'] as const;
const examples: Readonly<Record<Source, string>> = { header: 'Authorization', cookie: 'session', arg: 'api_key' };
const statuses = [929, 429] as const;

export const FrequencyEditor = (props: EditorProps<FrequencyDraft>) => (
  <LimitEditor {...props} faults={frequencyFaults(props.rule)} types={types} numbers={['times', 'seconds']} />
);

export const LimitConnEditor = (props: EditorProps<LimitConnDraft>) => (
  <LimitEditor {...props} faults={limitConnFaults(props.rule)} types={concurrencyTypes} numbers={['max']} />
);

export function LimitReqEditor(props: EditorProps<LimitReqDraft>) {
  const t = useT();
  return (
    <LimitEditor {...props} faults={limitReqFaults(props.rule)} types={types} numbers={['rate', 'burst']}>
      <Checkbox
        className={classes['check'] ?? ''}
        label={t('limits.fields.queue')}
        checked={props.rule.queue}
        onChange={({ currentTarget }) => props.onChange({ ...props.rule, queue: currentTarget.checked })}
      />
    </LimitEditor>
  );
}

interface LimitEditorProps<D extends LimitDraft> extends EditorProps<D> {
  faults: Partial<Record<string, Issue>>;
  types: readonly CountedBy[];
  numbers: (keyof D & ('times' | 'seconds' | 'rate' | 'burst' | 'max'))[];
  children?: ReactNode;
}

function LimitEditor<D extends LimitDraft>({
  rule,
  faults,
  types: offered,
  numbers,
  onChange,
  children,
}: LimitEditorProps<D>) {
  const t = useT();
  const set = (part: Partial<FrequencyDraft & LimitReqDraft>) => onChange({ ...rule, ...part });
  const errorOf = (field: string) => {
    const issue = faults[field];
    return issue && ruleText(issue.rule, issue.message, issue.values);
  };
  const { source, name } = sourceOf(rule.header);
  const chooseType = (value: string | null) => {
    const chosen = offered.find((one) => String(one) === value) ?? 1;
    const isPrefixed = chosen === 'cookie' || chosen === 'arg';
    set({ type: isPrefixed ? 4 : chosen, header: headerOf(isPrefixed ? chosen : 'header', name) });
  };
  const text = (field: 'urlRegex' | 'header', value: string, onText: (value: string) => void) => ({
    value,
    error: errorOf(field),
    spellCheck: false,
    autoCapitalize: 'off',
    classNames: { input: classes['mono'] ?? '' },
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => onText(currentTarget.value),
  });
  return (
    <div className={classes['editor']}>
      <span className={classes['joint']} data-low>
        {t('shared.rule.if')}
      </span>
      <div className={classes['effects']}>
        <TextInput
          {...text('urlRegex', rule.urlRegex, (urlRegex) => set({ urlRegex }))}
          label={t('limits.fields.urlRegex')}
          placeholder="^/api/"
          w={260}
        />
        <Select
          label={t('limits.fields.type')}
          data={offered.map((type) => ({ value: String(type), label: t(`limits.choices.type.${type}`) }))}
          value={String(countedBy(rule))}
          allowDeselect={false}
          w={220}
          onChange={chooseType}
        />
        {rule.type === 4 && (
          <TextInput
            {...text('header', name, (value) => set({ header: headerOf(source, value) }))}
            label={t(`limits.fields.${source}`)}
            placeholder={examples[source]}
            w={180}
          />
        )}
      </div>
      <span className={classes['joint']} data-low>
        {t('shared.rule.then')}
      </span>
      <div className={classes['effects']}>
        {numbers.map((field) => (
          <NumberInput
            key={field}
            label={t(`limits.fields.${field}`)}
            suffix={t(`limits.units.${field}`)}
            value={Number(rule[field])}
            min={0}
            allowDecimal={false}
            hideControls
            clampBehavior="none"
            w={150}
            error={errorOf(field)}
            onChange={(value) => set({ [field]: Number(value) || 0 })}
          />
        ))}
        <Select
          label={t('limits.fields.status')}
          data={statuses.map((status) => ({ value: String(status), label: t(`limits.choices.status.${status}`) }))}
          value={String(rule.status)}
          allowDeselect={false}
          w={200}
          onChange={(value) => set({ status: value === '429' ? 429 : 929 })}
        />
        {children}
        <Checkbox
          className={classes['check'] ?? ''}
          label={t('limits.fields.monitor')}
          checked={rule.monitor}
          onChange={({ currentTarget }) => set({ monitor: currentTarget.checked })}
        />
      </div>
    </div>
  );
}
