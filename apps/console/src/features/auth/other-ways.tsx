import { oidc } from '@edgeloom/contract/auth/auth.calls.ts';
import { Button } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useSearchParams } from 'react-router-dom';
import { call } from '../../lib/api.ts';
import { family } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { canPasskey, signInByPasskey } from '../../lib/passkey.ts';
import { beginOidc } from './oidc.ts';
import { sayFailure } from './say-failure.ts';
import classes from './auth.module.css';

interface OtherWaysProps {
  onDone: () => void;
}

/** Sign-in without password: passkey, or the operator's OIDC provider. */
export function OtherWays({ onDone }: OtherWaysProps) {
  const t = useT();
  const [search] = useSearchParams();
  const client = search.get('client');
  const [provider, setProvider] = useState<string | null>(null);
  const [busy, setBusy] = useState<'passkey' | 'oidc' | null>(null);
  useEffect(() => {
    if (family === 'admin') return;
    const ask = async () => {
      const { buttonText } = await call(oidc.button, { query: client ? { client } : {} });
      setProvider(buttonText);
    };
    // On an error, password sign-in is still available.
    ask().catch(() => null);
  }, [client]);

  const attempt = (way: 'passkey' | 'oidc', task: () => Promise<void>) => async () => {
    setBusy(way);
    await task().catch(sayFailure);
    setBusy(null);
  };
  const byPasskey = attempt('passkey', async () => {
    await signInByPasskey();
    onDone();
  });
  const atProvider = attempt('oidc', () => beginOidc(client, search.get('next')));

  if (!canPasskey() && provider === null) return null;
  return (
    <div className={classes['ways']}>
      <span className={classes['or']}>{t('auth.or')}</span>
      {canPasskey() && (
        <Button size="md" variant="default" fullWidth loading={busy === 'passkey'} onClick={() => void byPasskey()}>
          {t('auth.byPasskey')}
        </Button>
      )}
      {provider !== null && (
        <Button size="md" variant="default" fullWidth loading={busy === 'oidc'} onClick={() => void atProvider()}>
          {provider}
        </Button>
      )}
    </div>
  );
}
