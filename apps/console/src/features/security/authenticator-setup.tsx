import { login2fa } from '@edgeloom/contract/auth/auth.endpoints.ts';
import { Button, PasswordInput } from '@mantine/core';
import { useEffect, useId, useRef, useState, type FormEvent } from 'react';
import { Copy } from '../../components/values/copy.tsx';
import { call } from '../../lib/api.ts';
import { useT } from '../../lib/i18n.ts';
import { refresh } from '../../lib/queries.ts';
import { CodeBoxes } from '../auth/code-boxes.tsx';
import { sayFailure } from '../auth/say-failure.ts';
import { RecoveryCodes } from './recovery-codes.tsx';
import classes from './security.module.css';

interface Key {
  onePassKey: string;
  qrCode: string;
  qrCodeData: string;
}

/** Steps: password, key with first code, recovery codes, which are shown once. */
export function AuthenticatorSetup({ onEnd }: { onEnd: () => void }) {
  const [key, setKey] = useState<Key | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  if (codes)
    return (
      <RecoveryCodes
        codes={codes}
        onKept={() => {
          void refresh([login2fa.state.feature]);
          onEnd();
        }}
      />
    );
  return key ? (
    <FirstCode shown={key} onCodes={setCodes} onBack={onEnd} />
  ) : (
    <AskPassword onKey={setKey} onBack={onEnd} />
  );
}

function AskPassword({ onKey, onBack }: { onKey: (key: Key) => void; onBack: () => void }) {
  const t = useT();
  const [password, setPassword] = useState('');
  const [busy, setBusy] = useState(false);

  async function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    setBusy(true);
    try {
      const { onePassKey } = await call(login2fa.phase0, { body: { password } });
      onKey({ onePassKey, ...(await call(login2fa.phase1, { body: { onePassKey } })) });
    } catch (error) {
      sayFailure(error);
      setBusy(false);
    }
  }
  return (
    <div className={classes['block']}>
      <h2>{t('security.setUp')}</h2>
      <form noValidate onSubmit={(event) => void submit(event)}>
        <PasswordInput
          label={t('auth.fields.password')}
          autoComplete="current-password"
          value={password}
          onChange={(event) => setPassword(event.currentTarget.value)}
          visibilityToggleButtonProps={{ 'aria-label': t('common.form.show') }}
        />
        <div className={classes['line']}>
          <Button type="submit" loading={busy} disabled={password === ''}>
            {t('common.next')}
          </Button>
          <Button variant="default" onClick={onBack}>
            {t('common.cancel')}
          </Button>
        </div>
      </form>
    </div>
  );
}

interface FirstCodeProps {
  shown: Key;
  onCodes: (codes: readonly string[]) => void;
  onBack: () => void;
}

function FirstCode({ shown: { onePassKey, qrCode, qrCodeData }, onCodes, onBack }: FirstCodeProps) {
  const t = useT();
  const id = useId();
  const [code, setCode] = useState('');
  const [refused, setRefused] = useState(false);
  const [busy, setBusy] = useState(false);
  const secret = new URL(qrCodeData).searchParams.get('secret') ?? '';

  async function confirm(vcode: string) {
    setBusy(true);
    try {
      onCodes((await call(login2fa.phase2, { body: { onePassKey, vcode } })).recoveryCodes);
    } catch (error) {
      setRefused(true);
      sayFailure(error);
      setCode('');
      setBusy(false);
    }
  }
  return (
    <div className={classes['block']}>
      <h2>{t('security.scan')}</h2>
      <p className={classes['quiet']}>{t('security.scanWhy')}</p>
      <QrPicture url={qrCode} label={t('security.qrCode')} />
      <div className={classes['key']}>
        <Copy text={secret} />
      </div>
      <div className={classes['boxes']}>
        <CodeBoxes
          id={id}
          label={t('auth.code')}
          value={code}
          wrong={refused && code === ''}
          disabled={busy}
          onChange={(next) => {
            setCode(next);
            if (next.length === 6 && !busy) void confirm(next);
          }}
        />
      </div>
      <Button variant="default" onClick={onBack}>
        {t('common.cancel')}
      </Button>
    </div>
  );
}

/** Drawn on a canvas, because the CSP blocks data URLs. */
function QrPicture({ url, label }: { url: string; label: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const draw = async () => {
      const bytes = Uint8Array.from(atob(url.slice(url.indexOf(',') + 1)), (char) => char.charCodeAt(0));
      const picture = await createImageBitmap(new Blob([bytes], { type: 'image/png' }));
      if (!canvas.current) return;
      canvas.current.width = picture.width;
      canvas.current.height = picture.height;
      canvas.current.getContext('2d')?.drawImage(picture, 0, 0);
    };
    // The key is also shown as text.
    draw().catch(() => null);
  }, [url]);
  // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- an <img> would need the data: URL
  return <canvas ref={canvas} className={classes['picture']} role="img" aria-label={label} />;
}
