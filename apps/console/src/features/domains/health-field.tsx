import { NumberInput, Switch, TextInput } from '@mantine/core';
import { useT } from '../../lib/i18n.ts';
import { usualCheck, type HealthCheck } from './origins-draft.ts';
import classes from './domains.module.css';

const numbers = [
  ['intervalSeconds', 1, 3600, ' s'],
  ['timeoutSeconds', 1, 60, ' s'],
  ['statusFrom', 100, 599, ''],
  ['statusTo', 100, 599, ''],
  ['fails', 1, 10, ''],
  ['passes', 1, 10, ''],
] as const;

interface HealthFieldProps {
  value: HealthCheck | null;
  locked: boolean;
  onChange: (value: HealthCheck | null) => void;
  fault: (field: string) => string | undefined;
}

/** Settings of active health checks. */
export function HealthField({ value, locked, onChange, fault }: HealthFieldProps) {
  const t = useT();
  return (
    <div className={classes['health']}>
      <Switch
        label={t('domains.health.on')}
        checked={value !== null}
        disabled={locked}
        onChange={(event) => onChange(event.currentTarget.checked ? usualCheck : null)}
      />
      {value && (
        <div className={classes['healthFields']}>
          <TextInput
            label={t('domains.health.path')}
            value={value.path}
            disabled={locked}
            error={fault('path')}
            spellCheck={false}
            onChange={(event) => onChange({ ...value, path: event.currentTarget.value })}
          />
          <TextInput
            label={t('domains.health.host')}
            placeholder={t('domains.health.asVisitors')}
            value={value.host ?? ''}
            disabled={locked}
            error={fault('host')}
            spellCheck={false}
            onChange={(event) => onChange({ ...value, host: event.currentTarget.value.trim() || null })}
          />
          {numbers.map(([name, min, max, suffix]) => (
            <NumberInput
              key={name}
              label={t(`domains.health.${name}`)}
              value={value[name]}
              min={min}
              max={max}
              suffix={suffix}
              allowDecimal={false}
              clampBehavior="none"
              disabled={locked}
              error={fault(name)}
              onChange={(next) => onChange({ ...value, [name]: Number(next) })}
            />
          ))}
        </div>
      )}
    </div>
  );
}
