import { login2fa } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { Button } from '@mantine/core';
import { useState } from 'react';
import { useOverlay } from '../../components/overlay/overlay.tsx';
import { Await } from '../../components/states/await.tsx';
import { StatusMark } from '../../components/status/status-mark.tsx';
import { useT } from '../../lib/i18n.ts';
import { useEndpoint } from '../../lib/use-endpoint.ts';
import { AuthenticatorSetup } from './authenticator-setup.tsx';
import { TurnOffForm } from './turn-off-form.tsx';
import classes from './security.module.css';

export function TwoFactorTab() {
  const state = useEndpoint(login2fa.state);
  const [settingUp, setSettingUp] = useState(false);
  if (settingUp) return <AuthenticatorSetup onEnd={() => setSettingUp(false)} />;
  return (
    <Await result={state}>
      {({ login2FAType, recoveryCodes }) =>
        login2FAType === 1 ? <IsOn left={recoveryCodes} /> : <IsOff onSetUp={() => setSettingUp(true)} />
      }
    </Await>
  );
}

function IsOn({ left }: { left: number }) {
  const t = useT();
  const overlay = useOverlay();
  return (
    <div className={classes['block']}>
      <div className={classes['line']}>
        <StatusMark tone="ok" />
        <h2>{t('security.isOn')}</h2>
      </div>
      <p className={classes['quiet']}>{t('security.codesLeft', { count: left })}</p>
      <Button variant="default" onClick={() => overlay(<TurnOffForm />, { title: 'security.turnOff' })}>
        {t('security.turnOff')}
      </Button>
    </div>
  );
}

function IsOff({ onSetUp }: { onSetUp: () => void }) {
  const t = useT();
  return (
    <div className={classes['block']}>
      <div className={classes['line']}>
        <StatusMark tone="off" />
        <h2>{t('security.isOff')}</h2>
      </div>
      <p className={classes['quiet']}>{t('security.twoFactorWhy')}</p>
      <Button onClick={onSetUp}>{t('security.setUp')}</Button>
    </div>
  );
}
