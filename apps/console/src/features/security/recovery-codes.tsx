import { Button } from '@mantine/core';
import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconCopy, IconDownload } from '@tabler/icons-react';
import { useT } from '../../lib/i18n.ts';
import { useSession } from '../../stores/session.ts';
import classes from './security.module.css';

export function RecoveryCodes({ codes, onKept }: { codes: readonly string[]; onKept: () => void }) {
  const t = useT();
  const account = useSession((session) => session.account);
  const { copy, copied } = useClipboard({ timeout: 1500 });
  const text = `${codes.join('\n')}\n`;

  function download() {
    const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
    const link = document.createElement('a');
    link.href = url;
    link.download = `edgeloom-${account?.email ?? 'account'}-recovery-codes.txt`;
    link.click();
    URL.revokeObjectURL(url);
  }
  return (
    <div className={classes['block']}>
      <h2>{t('security.recoveryCodes')}</h2>
      <p className={classes['quiet']}>{t('security.recoveryWhy')}</p>
      <ul className={classes['codes']}>
        {codes.map((code) => (
          <li key={code}>{code}</li>
        ))}
      </ul>
      <div className={classes['line']}>
        <Button
          variant="default"
          leftSection={copied ? <IconCheck size={15} /> : <IconCopy size={15} />}
          onClick={() => copy(text)}
        >
          {t(copied ? 'common.copied' : 'common.copy')}
        </Button>
        <Button variant="default" leftSection={<IconDownload size={15} />} onClick={download}>
          {t('security.download')}
        </Button>
        <Button onClick={onKept}>{t('security.kept')}</Button>
      </div>
    </div>
  );
}
