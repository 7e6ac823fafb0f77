import { Button, Checkbox, NumberInput, Select, TextInput } from '@mantine/core';
import { IconChevronDown, IconChevronUp } from '@tabler/icons-react';
import { useState } from 'react';
import { wordsOf } from '../../components/rules/path-condition.tsx';
import { useT } from '../../lib/i18n.ts';
import classes from './cache.module.css';
import { actionOf, isPlain, type DraftRule, type faultsOf, type Rule } from './rules-draft.ts';

export type ErrorOf = (field: keyof ReturnType<typeof faultsOf>) => string | undefined;
interface MoreProps {
  rule: DraftRule;
  set: (part: Partial<DraftRule>) => void;
  errorOf: ErrorOf;
}
const hidden = ['cookieNames', 'passCookies', 'maxTime'] as const;

const cookieChoices = ['none', 'listed', 'all'] as const satisfies readonly Rule['cookies'][];

/** Advanced options, collapsed unless the rule uses some. */
export function MoreOptions({ rule, tried, set, errorOf }: MoreProps & { tried: boolean }) {
  const t = useT();
  const [chosen, setOpen] = useState(!isPlain(rule));
  const open = chosen || (tried && hidden.some((field) => errorOf(field) !== undefined));
  const Chevron = open ? IconChevronUp : IconChevronDown;
  return (
    <div className={classes['more']}>
      <Button
        variant="subtle"
        size="compact-sm"
        aria-expanded={open}
        leftSection={<Chevron size={15} stroke={1.8} />}
        onClick={() => setOpen(!open)}
      >
        {t('cache.edit.more')}
      </Button>
      {open && (
        <div className={classes['options']}>
          <Seconds name="browserTime" rule={rule} set={set} />
          {actionOf(rule) !== 'never' && <Stored rule={rule} set={set} errorOf={errorOf} />}
        </div>
      )}
    </div>
  );
}

function Stored({ rule, set, errorOf }: MoreProps) {
  const t = useT();
  return (
    <>
      <Seconds name="staleWhileRevalidate" rule={rule} set={set} />
      <Seconds name="staleIfError" rule={rule} set={set} />
      {rule.honourOrigin && (
        <>
          <Seconds name="minTime" rule={rule} set={set} />
          <Seconds name="maxTime" rule={rule} set={set} error={errorOf('maxTime')} />
        </>
      )}
      <Select
        label={t('cache.fields.cookies')}
        data={cookieChoices.map((value) => ({ value, label: t(`cache.choices.cookies.${value}`) }))}
        value={rule.cookies}
        allowDeselect={false}
        onChange={(value) => set({ cookies: cookieChoices.find((name) => name === value) ?? 'none' })}
      />
      {rule.cookies === 'listed' && <Names name="cookieNames" rule={rule} set={set} error={errorOf('cookieNames')} />}
      <Names name="passCookies" rule={rule} set={set} error={errorOf('passCookies')} />
      <div className={classes['flags']}>
        <Flag name="stripCookies" rule={rule} set={set} />
        <Flag name="slices" rule={rule} set={set} />
        <Flag name="overrideOrigin" rule={rule} set={set} hint={t('cache.hints.overrideOrigin')} />
      </div>
    </>
  );
}

type FieldProps<Name> = Pick<MoreProps, 'rule' | 'set'> & { name: Name; error?: string | undefined };

/** Empty means the origin's value. */
function Seconds({
  name,
  rule,
  set,
  error,
}: FieldProps<'browserTime' | 'staleWhileRevalidate' | 'staleIfError' | 'minTime' | 'maxTime'>) {
  const t = useT();
  return (
    <NumberInput
      label={t(`cache.fields.${name}`)}
      placeholder={t(`cache.edit.unset.${name}`)}
      suffix={` ${t('cache.edit.s')}`}
      value={rule[name] ?? ''}
      min={0}
      max={31_536_000}
      allowDecimal={false}
      allowNegative={false}
      hideControls
      error={error}
      onChange={(value) => set({ [name]: value === '' ? null : Number(value) })}
    />
  );
}

/** Keep the text as typed, so that a trailing comma does not vanish. */
function Names({ name, rule, set, error }: FieldProps<'cookieNames' | 'passCookies'>) {
  const t = useT();
  const [text, setText] = useState(rule[name].join(' '));
  return (
    <TextInput
      label={t(`cache.fields.${name}`)}
      placeholder={t(`cache.edit.${name}`)}
      value={text}
      error={error}
      spellCheck={false}
      autoCapitalize="off"
      classNames={{ input: classes['mono'] ?? '' }}
      onChange={({ currentTarget }) => {
        setText(currentTarget.value);
        set({ [name]: wordsOf(currentTarget.value) });
      }}
    />
  );
}

function Flag({
  name,
  rule,
  set,
  hint,
}: FieldProps<'stripCookies' | 'slices' | 'overrideOrigin'> & { hint?: string | undefined }) {
  const t = useT();
  return (
    <Checkbox
      label={t(`cache.fields.${name}`)}
      description={hint}
      checked={rule[name]}
      onChange={({ currentTarget }) => set({ [name]: currentTarget.checked })}
    />
  );
}
