import { Button } from '@mantine/core';
import { useOverlayClose } from '../../components/overlay/overlay.tsx';
import { CodeBox } from '../../components/values/code-box.tsx';
import { family } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import classes from './api-tokens.module.css';

/** Shows the new token once. */
export function TokenShown({ token }: { token: string }) {
  const t = useT();
  const close = useOverlayClose();
  const command = `curl -H 'Authorization: Bearer ${token}' ${location.origin}/api/v1/${family}/account/self`;
  return (
    <div className={classes['shown']}>
      <output>{t('apiTokens.shown.once')}</output>
      {(
        [
          ['token', token],
          ['example', command],
        ] as const
      ).map(([what, text]) => (
        <section key={what} aria-label={t(`apiTokens.shown.${what}`)}>
          <h3>{t(`apiTokens.shown.${what}`)}</h3>
          <CodeBox text={text} name={t(`apiTokens.shown.${what}`)} />
        </section>
      ))}
      <div className="dialog-buttons">
        <Button onClick={close}>{t('apiTokens.shown.kept')}</Button>
      </div>
    </div>
  );
}
