import { Checkbox, Select, Textarea, TextInput } from '@mantine/core';
import { useState } from 'react';
import { IfPath } from '../../components/rules/path-condition.tsx';
import type { EditorProps } from '../../components/rules/rule-list.tsx';
import classes from '../../components/rules/rules.module.css';
import { ruleText } from '../../lib/errors.ts';
import { useT } from '../../lib/i18n.ts';
import { ActionSelect } from './action-select.tsx';
import { faultsOf, hostsOf, type RefererDraft } from './referer-draft.ts';

const types = ['all', 'fileType', 'prefix', 'url', 'regex'] as const;
const actions = ['deny', 'redirect'] as const;
const lists = ['white', 'black'] as const;

export function RefererEditor({ rule, tried, onChange }: EditorProps<RefererDraft>) {
  const t = useT();
  // Keep the text as typed, so that a trailing space does not vanish.
  const [hosts, setHosts] = useState(rule.referers.join('\n'));
  const [touched, setTouched] = useState<readonly string[]>(rule.id === null ? [] : ['referers', 'target']);
  const touch = (field: string) => () => setTouched([...touched, field]);
  const faults = faultsOf(rule);
  const errorOf = (field: keyof typeof faults) => {
    const issue = faults[field];
    return issue && ruleText(issue.rule, issue.message, issue.values);
  };
  const set = (part: Partial<RefererDraft>) => onChange({ ...rule, ...part });
  return (
    <div className={classes['editor']}>
      <IfPath of={rule} types={types} fault={errorOf('value')} tried={tried} onChange={set} />
      <span className={classes['joint']}>{t('shared.rule.and')}</span>
      <div className={classes['condition']}>
        <div className={classes['type']}>
          <Select
            aria-label={t('hotlink.fields.isBlack')}
            data={lists.map((value) => ({ value, label: t(`hotlink.choices.list.${value}`) }))}
            value={rule.isBlack ? 'black' : 'white'}
            allowDeselect={false}
            onChange={(value) => set({ isBlack: value === 'black' })}
          />
        </div>
        <div className={classes['values']}>
          <Textarea
            aria-label={t('hotlink.fields.referers')}
            description={t('hotlink.hints.referers')}
            inputWrapperOrder={['input', 'error', 'description']}
            placeholder="**.example.com"
            value={hosts}
            error={(tried || touched.includes('referers')) && errorOf('referers')}
            autosize
            minRows={1}
            maxRows={10}
            spellCheck={false}
            autoCapitalize="off"
            classNames={{ input: classes['mono'] ?? '' }}
            onBlur={touch('referers')}
            onChange={({ currentTarget }) => {
              setHosts(currentTarget.value);
              set({ referers: hostsOf(currentTarget.value) });
            }}
          />
        </div>
      </div>
      <span />
      <Checkbox
        label={t('hotlink.fields.allowEmpty')}
        description={t('hotlink.hints.allowEmpty')}
        checked={rule.allowEmpty}
        onChange={({ currentTarget }) => set({ allowEmpty: currentTarget.checked })}
      />
      <span className={classes['joint']}>{t('shared.rule.then')}</span>
      <div className={classes['condition']}>
        <div className={classes['type']}>
          <ActionSelect actions={actions} value={rule.action} onChange={(action) => set({ action })} />
        </div>
        {rule.action === 'redirect' && (
          <div className={classes['values']}>
            <TextInput
              aria-label={t('hotlink.fields.target')}
              placeholder="https://www.example.com/no-hotlinks.png"
              value={rule.target ?? ''}
              error={(tried || touched.includes('target')) && errorOf('target')}
              spellCheck={false}
              inputMode="url"
              classNames={{ input: classes['mono'] ?? '' }}
              onBlur={touch('target')}
              onChange={({ currentTarget }) => set({ target: currentTarget.value })}
            />
          </div>
        )}
      </div>
    </div>
  );
}
