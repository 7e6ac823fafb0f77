import { PasswordInput, SegmentedControl } from '@mantine/core';
import { useState } from 'react';
import { CopyIcon } from '../../components/values/copy.tsx';
import { useT } from '../../lib/i18n.ts';
import { cookie } from '../../stores/session.ts';
import { curlOf, type Call, type Schemas } from './document.ts';
import classes from './api-doc.module.css';

const sources = ['placeholder', 'session', 'token'] as const;
type Source = (typeof sources)[number];

/** The call as a curl command. The token is copied but never displayed. */
export function CurlBox({ call, schemas }: { call: Call; schemas: Schemas }) {
  const t = useT();
  const [source, setSource] = useState<Source>('placeholder');
  const [given, setGiven] = useState('');
  const base = `${location.origin}/api/v1`;
  // Read on copy, because access tokens are refreshed every few minutes.
  const token = source === 'session' ? cookie('accessToken') : source === 'token' && given !== '' ? given : null;
  const shown = curlOf(call, schemas, base, token === null ? null : '••••••••');
  return (
    <>
      {call['x-permission'] !== 'anyone' && (
        <div className={classes['tokens']}>
          <SegmentedControl
            size="xs"
            aria-label={t('apiDoc.token')}
            data={sources.map((value) => ({ value, label: t(`apiDoc.tokens.${value}`) }))}
            value={source}
            onChange={(value) => setSource(sources.find((one) => one === value) ?? 'placeholder')}
          />
          {source === 'token' && (
            <PasswordInput
              size="xs"
              aria-label={t('apiDoc.tokens.token')}
              placeholder="cdn_…"
              autoComplete="off"
              value={given}
              onChange={(event) => setGiven(event.currentTarget.value.trim())}
            />
          )}
          <p className={classes['quiet']}>{t(`apiDoc.tokenHints.${source}`)}</p>
        </div>
      )}
      <CodeBlock label="curl" text={shown} copied={curlOf(call, schemas, base, token)} />
    </>
  );
}

export function CodeBlock({ label, text, copied = text }: { label: string; text: string; copied?: string }) {
  return (
    <div className={classes['code']}>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a region that scrolls must be reached by keyboard */}
      <section className={classes['codeText']} aria-label={label} tabIndex={0}>
        <pre>{text}</pre>
      </section>
      <span className={classes['codeCopy']}>
        <CopyIcon text={copied} name={label} />
      </span>
    </div>
  );
}
