import type { Paths } from '@edgeloom/contract/common/paths.ts';
import { tokenPresets } from '@edgeloom/contract/modules/token-presets.ts';
import { ActionIcon, Button, Checkbox, NumberInput, Select, Switch, TextInput } from '@mantine/core';
import { IconArrowUp, IconChevronDown, IconChevronUp, IconX } from '@tabler/icons-react';
import { useState } from 'react';
import { PathCondition } from '../../components/rules/path-condition.tsx';
import { Lit } from '../../components/sentence/sentence.tsx';
import { useT } from '../../lib/i18n.ts';
import classes from './modules.module.css';
import { exampleOf, formOf, presetOf } from './token-form.ts';
import { TokenKeys } from './token-keys.tsx';
import { TokenRecipe, type EntryProps } from './token-recipe.tsx';

const types = ['all', 'prefix', 'fileType', 'url', 'regex'] as const satisfies readonly Paths['type'][];
const some = ['prefix', 'fileType', 'url', 'regex'] as const satisfies readonly Paths['type'][];
const OWN = 'own';

/** One token format: layout, place and signing keys. */
export function TokenEntryFields(props: EntryProps & { onUp: () => void; onRemove: () => void }) {
  const { n, entry, fault, faultIn, onBlur, onChange, onUp, onRemove } = props;
  const t = useT();
  const preset = presetOf(entry);
  const wrong = ['place', 'parts', 'text', 'algorithm'].some((field) => faultIn(field));
  const [open, setOpen] = useState(preset === null);
  const Chevron = open || wrong ? IconChevronUp : IconChevronDown;
  const { except } = entry;
  return (
    <li className={classes['rewrite']}>
      <div className={classes['options']}>
        <TextInput
          aria-label={t('tokenAuths.nth.name', { n })}
          placeholder={t('tokenAuths.fields.entryName')}
          value={entry.name}
          error={fault('name')}
          onBlur={onBlur}
          onChange={({ currentTarget }) => onChange({ name: currentTarget.value })}
        />
        <Switch
          size="xs"
          label={t('common.on')}
          aria-label={t('tokenAuths.nth.on', { n })}
          checked={entry.enabled}
          onChange={({ currentTarget }) => onChange({ enabled: currentTarget.checked })}
        />
        <span className={classes['push']} />
        <ActionIcon aria-label={t('tokenAuths.nth.up', { n })} disabled={n === 1} onClick={onUp}>
          <IconArrowUp size={15} stroke={1.6} />
        </ActionIcon>
        <ActionIcon aria-label={t('tokenAuths.nth.remove', { n })} onClick={onRemove}>
          <IconX size={15} stroke={1.6} />
        </ActionIcon>
      </div>
      <PathCondition
        types={types}
        type={entry.type}
        value={entry.value}
        fault={faultIn('value')}
        tried
        onChange={onChange}
      />
      <Checkbox
        label={t('tokenAuths.fields.except')}
        checked={except !== null}
        onChange={({ currentTarget }) =>
          onChange({ except: currentTarget.checked ? { type: 'prefix', value: [] } : null })
        }
      />
      {except && (
        <PathCondition
          types={some}
          type={some.find((type) => type === except.type) ?? 'prefix'}
          value={except.value}
          fault={faultIn('except')}
          tried
          onChange={(paths) => onChange({ except: paths })}
        />
      )}
      <div className={classes['pair']}>
        <Select
          label={t('tokenAuths.fields.preset')}
          data={[
            ...tokenPresets.map(({ id, name }) => ({ value: id, label: name })),
            { value: OWN, label: t('tokenAuths.own') },
          ]}
          value={preset ?? OWN}
          allowDeselect={false}
          onChange={(id) => (id === OWN || id === null ? setOpen(true) : onChange(formOf(id)))}
        />
        <div>
          <span className={classes['caption']}>{t('tokenAuths.looks')}</span>
          <Lit>{exampleOf(entry)}</Lit>
        </div>
      </div>
      <div>
        <Button
          variant="subtle"
          size="compact-sm"
          aria-expanded={open || wrong}
          leftSection={<Chevron size={15} stroke={1.8} />}
          onClick={() => setOpen(!open)}
        >
          {t('tokenAuths.details')}
        </Button>
      </div>
      {(open || wrong) && <TokenRecipe {...props} />}
      <div className={classes['pair']}>
        {entry.timeMeans === 'signed' && (
          <NumberInput
            label={t('tokenAuths.fields.validSeconds')}
            value={entry.validSeconds}
            error={fault('validSeconds')}
            min={1}
            clampBehavior="none"
            allowDecimal={false}
            onBlur={onBlur}
            onChange={(next) => onChange({ validSeconds: Number(next) })}
          />
        )}
        <NumberInput
          label={t('tokenAuths.fields.leewaySeconds')}
          value={entry.leewaySeconds}
          error={fault('leewaySeconds')}
          min={0}
          clampBehavior="none"
          allowDecimal={false}
          onBlur={onBlur}
          onChange={(next) => onChange({ leewaySeconds: Number(next) })}
        />
        <Select
          label={t('tokenAuths.fields.action')}
          data={(['deny', 'redirect'] as const).map((value) => ({
            value,
            label: t(`tokenAuths.choices.action.${value}`),
          }))}
          value={entry.action}
          allowDeselect={false}
          onChange={(next) => onChange(next === 'redirect' ? { action: next } : { action: 'deny', target: null })}
        />
        {entry.action === 'redirect' && (
          <TextInput
            label={t('tokenAuths.fields.target')}
            placeholder="https://www.example.com/login"
            value={entry.target ?? ''}
            error={fault('target')}
            classNames={{ input: classes['mono'] ?? '' }}
            onBlur={onBlur}
            onChange={({ currentTarget }) =>
              onChange({ target: currentTarget.value === '' ? null : currentTarget.value })
            }
          />
        )}
      </div>
      <TokenKeys n={n} keys={entry.keys} fault={fault} onBlur={onBlur} onChange={(keys) => onChange({ keys })} />
    </li>
  );
}
