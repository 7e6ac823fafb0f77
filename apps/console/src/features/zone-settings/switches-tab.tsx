import { zoneSettings } from '@edgeloom/contract/zone-settings/zone-settings.endpoints.ts';
import { SwitchInput, type SwitchName } from '@edgeloom/contract/zone-settings/zone-settings.ts';
import { Button } from '@mantine/core';
import { TextField } from '../../components/fields/text-field.tsx';
import { TimeField } from '../../components/fields/time-field.tsx';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { Pill } from '../../components/status/status.tsx';
import { Time } from '../../components/values/values.tsx';
import { useT } from '../../lib/i18n.ts';
import { useCan } from '../../lib/use-can.ts';
import type { Settings } from './draft.ts';
import classes from './zone-settings.module.css';

/** Kill switches. */
export function SwitchesTab({ zoneId, settings: { switches } }: { zoneId: string; settings: Settings }) {
  const t = useT();
  const can = useCan();
  const overlay = useOverlay();
  const turning = (name: SwitchName, off: boolean) =>
    t(off ? 'zoneSettings.switchOff' : 'zoneSettings.switchOn', { name: t(`zoneSettings.choices.name.${name}`) });
  return (
    <div className={classes['switches']}>
      <p className={classes['quiet']}>{t('zoneSettings.switchesWhy')}</p>
      <ul>
        {switches.map(({ name, off, reason, author, until, since }) => (
          <li key={name}>
            <div>
              <b>{t(`zoneSettings.choices.name.${name}`)}</b>
              {/* Whether it is used at all is set elsewhere. */}
              <Pill tone={off ? 'warn' : 'off'}>{t(off ? 'common.off' : 'zoneSettings.asSet')}</Pill>
              {off && (
                <span className={classes['quiet']}>
                  {reason} · {author} · {since && <Time at={since} />}
                  {until && (
                    <>
                      {' → '}
                      <Time at={until} />
                    </>
                  )}
                </span>
              )}
            </div>
            {can(zoneSettings.setSwitch) && (
              <Button
                variant="default"
                aria-label={turning(name, !off)}
                onClick={() =>
                  overlay(<SwitchForm zoneId={zoneId} name={name} off={!off} />, {
                    title: { text: turning(name, !off) },
                  })
                }
              >
                {t(off ? 'common.turnOn' : 'common.turnOff')}
              </Button>
            )}
          </li>
        ))}
      </ul>
    </div>
  );
}

function SwitchForm({ zoneId, name, off }: { zoneId: string; name: SwitchName; off: boolean }) {
  return (
    <ResourceForm
      create={zoneSettings.setSwitch}
      params={{ zoneId }}
      schema={SwitchInput}
      initial={{ name, off, reason: '', until: null }}
      submitLabel={off ? 'common.turnOff' : 'common.turnOn'}
      done={off ? 'common.turnedOff' : 'common.turnedOn'}
    >
      <TextField name="reason" />
      {off && <TimeField name="until" />}
    </ResourceForm>
  );
}
