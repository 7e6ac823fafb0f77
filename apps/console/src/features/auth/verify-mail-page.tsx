import { mailedTokens } from '@edgeloom/contract/auth/auth.calls.ts';
import { Loader } from '@mantine/core';
import { useEffect } from 'react';
import { useNavigate, useSearchParams } from 'react-router-dom';
import { call } from '../../lib/api.ts';
import { explain } from '../../lib/errors.ts';
import { to } from '../../lib/family.ts';
import { useT } from '../../lib/i18n.ts';
import { loadAccount } from '../../lib/sign-in.ts';
import { hasTokens } from '../../stores/session.ts';
import { toast } from '../../stores/toasts.ts';
import { SignInTitle } from './sign-in-title.tsx';
import classes from './auth.module.css';

/** Target of mailed links. The token is checked and removed from the URL. */
export function VerifyMailPage() {
  const t = useT();
  const navigate = useNavigate();
  const [search] = useSearchParams();
  const token = search.get('token') ?? '';
  useEffect(() => {
    const check = async () => {
      const found = await call(mailedTokens.check, { body: { token: token || '-' } });
      // The next page names this session's account; an expired session ends here.
      if (hasTokens()) await loadAccount().catch(() => null);
      await navigate(to('login/createPassword'), { replace: true, state: { ...found, token } });
    };
    check().catch((error: unknown) => {
      toast({ tone: 'info', text: explain(error).text });
      void navigate(to('login'), { replace: true });
    });
  }, [token, navigate]);
  return (
    <>
      <SignInTitle text={t('auth.checkingLink')} />
      <div className={classes['form']}>
        <Loader size="sm" aria-label={t('common.loading')} />
      </div>
    </>
  );
}
