import { antiCCFrequencies } from '@edgeloom/contract/site-anti-cc/site-anti-cc.ts';
import { Checkbox, NumberInput, Select, TextInput } from '@mantine/core';
import { useState } from 'react';
import { TimeInput } from '../../components/fields/time-input.tsx';
import type { EditorProps } from '../../components/rules/rule-list.tsx';
import classes from '../../components/rules/rules.module.css';
import { ruleText } from '../../lib/errors.ts';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { ChallengePreview } from '../zone-settings/challenge-preview.tsx';
import { antiCCFaults, EXEMPT, type AntiCCDraft } from './anti-cc-drafts.ts';
import own from './anti-cc.module.css';

const modes = [1, 2, 3, 4, 0] as const;
const difficulties = [1, 2, 3, 4, 5] as const;
const thresholds = ['siteRate', 'errorPercent', 'originMs', 'raiseMinutes'] as const;
const CUSTOM = 'custom';
const choiceOf = ({ frequency, seconds }: { frequency: number; seconds: number }) =>
  frequency === 0 ? '0' : `${frequency}/${seconds}`;

export function AntiCCEditor({ rule, onChange }: EditorProps<AntiCCDraft>) {
  const t = useT();
  const faults = antiCCFaults(rule);
  const [isCustom, setCustom] = useState(!antiCCFrequencies.some((one) => choiceOf(one) === choiceOf(rule)));
  const set = (part: Partial<AntiCCDraft>) => onChange({ ...rule, ...part });
  const errorOf = (field: string) => {
    const issue = faults[field];
    return issue && ruleText(issue.rule, issue.message, issue.values);
  };
  const text = (field: 'urlRegex' | 'header' | 'headerValue') => ({
    label: t(`siteAntiCC.fields.${field}`),
    value: rule[field],
    error: errorOf(field),
    spellCheck: false,
    autoCapitalize: 'off',
    classNames: { input: classes['mono'] ?? '' },
    onChange: ({ currentTarget }: { currentTarget: { value: string } }) => set({ [field]: currentTarget.value }),
  });
  const number = (field: 'frequency' | 'seconds' | (typeof thresholds)[number], unit: number = 1) => (
    <NumberInput
      key={field}
      label={t(`siteAntiCC.fields.${field}`)}
      suffix={t(`siteAntiCC.units.${field}`)}
      value={rule[field] / unit}
      min={0}
      allowDecimal={false}
      hideControls
      clampBehavior="none"
      thousandSeparator=","
      w={170}
      error={errorOf(field)}
      onChange={(value) => set({ [field]: (Number(value) || 0) * unit })}
    />
  );
  const choose = (value: string | null) => {
    setCustom(value === CUSTOM);
    const choice = antiCCFrequencies.find((one) => choiceOf(one) === value);
    if (choice) set(choice);
  };
  return (
    <div className={classes['editor']}>
      <span className={classes['joint']} data-low>
        {t('shared.rule.if')}
      </span>
      <div className={classes['effects']}>
        <TextInput {...text('urlRegex')} placeholder="^/login" w={220} />
        <TextInput {...text('header')} placeholder="X-Api-Key" w={170} />
        {rule.header !== '' && <TextInput {...text('headerValue')} w={220} />}
      </div>
      <span className={classes['joint']} data-low>
        {t('shared.rule.then')}
      </span>
      <div>
        <div className={classes['effects']}>
          <Select
            label={t('siteAntiCC.fields.mode')}
            data={modes.map((mode) => ({ value: String(mode), label: t(`siteAntiCC.modes.${mode}`) }))}
            value={String(rule.mode)}
            allowDeselect={false}
            w={220}
            onChange={(value) => set({ mode: modes.find((mode) => String(mode) === value) ?? 1 })}
          />
          <TimeInput
            label={t('siteAntiCC.fields.endsAt')}
            w={210}
            error={errorOf('endsAt')}
            value={rule.endsAt}
            onChange={(endsAt) => set({ endsAt })}
          />
          {rule.mode !== EXEMPT && (
            <Checkbox
              className={classes['check'] ?? ''}
              label={t('siteAntiCC.fields.monitor')}
              checked={rule.monitor}
              onChange={({ currentTarget }) => set({ monitor: currentTarget.checked })}
            />
          )}
        </div>
        <p className={own['hint']}>{t(`siteAntiCC.modeHints.${rule.mode}`)}</p>
        {rule.mode !== EXEMPT && (
          <>
            <h3 className={own['part']}>{t('siteAntiCC.when')}</h3>
            <div className={classes['effects']}>
              <Select
                label={t('siteAntiCC.fields.choice')}
                data={[
                  ...antiCCFrequencies.map((one) => ({
                    value: choiceOf(one),
                    label:
                      one.frequency === 0
                        ? t('siteAntiCC.everyone')
                        : t('siteAntiCC.above', { count: count(one.frequency), seconds: one.seconds }),
                  })),
                  { value: CUSTOM, label: t('siteAntiCC.custom') },
                ]}
                value={isCustom ? CUSTOM : choiceOf(rule)}
                allowDeselect={false}
                w={280}
                onChange={choose}
              />
              {isCustom && number('frequency')}
              {isCustom && number('seconds')}
            </div>
            {rule.frequency > 0 && (
              <>
                <h3 className={own['part']}>{t('siteAntiCC.raise')}</h3>
                <div className={classes['effects']}>{thresholds.map((field) => number(field))}</div>
                <p className={own['hint']}>{t('siteAntiCC.raiseHint')}</p>
              </>
            )}
            <h3 className={own['part']}>{t('siteAntiCC.page')}</h3>
            <div className={own['columns']}>
              <div className={own['fields']}>
                <Select
                  label={t('siteAntiCC.fields.difficulty')}
                  data={difficulties.map((level) => ({
                    value: String(level),
                    label: t(`antiCC.difficulties.${level}`),
                  }))}
                  value={String(rule.difficulty)}
                  allowDeselect={false}
                  onChange={(value) => set({ difficulty: Number(value) })}
                />
                <NumberInput
                  label={t('siteAntiCC.fields.passSeconds')}
                  description={t('siteAntiCC.passHint')}
                  suffix={t('siteAntiCC.units.passSeconds')}
                  value={rule.passSeconds / 60}
                  min={1}
                  max={1440}
                  allowDecimal={false}
                  hideControls
                  clampBehavior="none"
                  error={errorOf('passSeconds')}
                  onChange={(value) => set({ passSeconds: (Number(value) || 0) * 60 })}
                />
              </div>
              <ChallengePreview mode={rule.mode} />
            </div>
          </>
        )}
      </div>
    </div>
  );
}
