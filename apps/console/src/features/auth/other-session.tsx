import { Button } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router-dom';
import { to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { Phrase } from '../../components/phrase/phrase.tsx';
import { leave } from '../../lib/sign-in.ts';
import { SignInTitle } from './sign-in-title.tsx';
import classes from './auth.module.css';

interface OtherSessionProps {
  /** Account of the session. */
  account: string;
  /** Account of the link. */
  email: string;
  onLeft: () => void;
}

/** A mailed link was opened while another account is signed in: the reader chooses. */
export function OtherSession({ account, email, onLeft }: OtherSessionProps) {
  const t = useT();
  const [busy, setBusy] = useState(false);
  return (
    <>
      <SignInTitle text={t(account === email ? 'auth.link.own' : 'auth.link.other')} />
      <p className={classes['lead']}>
        <Phrase word={account === email ? 'auth.link.who' : 'auth.link.whose'} values={{ account, email }} />
      </p>
      <div className={classes['form']}>
        <Button
          size="md"
          fullWidth
          loading={busy}
          aria-describedby="link-continue"
          onClick={() => {
            setBusy(true);
            void leave().then(onLeft);
          }}
        >
          {t('auth.link.continue')}
        </Button>
        <p id="link-continue" className={classes['why']}>
          {t('auth.link.continueWhy', { account })}
        </p>
        <Button
          size="md"
          variant="default"
          fullWidth
          component={Link}
          to={to('dashboard')}
          replace
          aria-describedby="link-stay"
        >
          {t('auth.link.stay')}
        </Button>
        <p id="link-stay" className={classes['why']}>
          {t('auth.link.stayWhy')}
        </p>
      </div>
    </>
  );
}
