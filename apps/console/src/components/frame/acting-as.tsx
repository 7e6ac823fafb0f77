import { IconUserShare } from '@tabler/icons-react';
import { stopActing } from '../../lib/acting.ts';
import { useT } from '../../lib/i18n.ts';
import { useSession } from '../../stores/session.ts';
import { Phrase } from '../phrase/phrase.tsx';
import { Banner } from './banner.tsx';

/** Shown while switched to another account. Names both accounts. */
export function ActingAs() {
  const t = useT();
  const account = useSession((session) => session.account);
  if (!account?.proxy) return null;
  return (
    <Banner
      tone="held"
      icon={IconUserShare}
      action={
        <button type="button" onClick={() => void stopActing()}>
          {t('proxy.stop')}
        </button>
      }
    >
      <Phrase word="proxy.banner" values={{ proxy: nameOf(account.proxy), account: nameOf(account) }} />
    </Banner>
  );
}

const nameOf = ({ name, email }: { name: string; email: string }) => (name === email ? email : `${name} (${email})`);
