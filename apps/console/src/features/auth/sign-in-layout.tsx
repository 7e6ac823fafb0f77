import { Outlet } from 'react-router-dom';
import { useEffect } from 'react';
import { SignInBrand } from '../../components/frame/brand.tsx';
import { Progress } from '../../components/frame/progress.tsx';
import { reader } from '../../components/page/place.ts';
import { family } from '../../lib/family.ts';
import { changeLanguage } from '../../lib/change-language.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import { version } from '../../lib/version.ts';
import { languages, type Language } from '../../lib/languages.ts';
import { branding } from '../../stores/branding.ts';
import { LoginBackground } from './login-background';
import classes from './auth.module.css';

const names: Record<Language, string> = { 'zh-TW': '繁體中文', 'zh-CN': '简体中文', en: 'English' };

const year = new Date().getFullYear();

/** A form column on the left, the woven background on the right. */
export function SignInLayout() {
  const t = useT();
  const language = useLanguage();
  useEffect(() => {
    reader.place = 'signIn';
  }, []);
  return (
    <div className={classes['page']} data-family={family}>
      <div className={classes['column']}>
        <header className={classes['brand']}>
          <SignInBrand />
          <span className={classes['kind']}>{t(`app.console.${family}`)}</span>
        </header>
        <main className={classes['main']}>
          <Progress />
          <Outlet />
        </main>
        <footer className={classes['foot']}>
          <span>{branding.copyright || `© ${year} Edgeloom · ${version}`}</span>
          <span className={classes['languages']}>
            {languages
              .filter((other) => other !== language)
              .map((other) => (
                <button
                  key={other}
                  type="button"
                  lang={other}
                  className={classes['language']}
                  onClick={() => void changeLanguage(other)}
                >
                  {names[other]}
                </button>
              ))}
          </span>
        </footer>
      </div>
      {branding.backgroundImage === null ? (
        <LoginBackground />
      ) : (
        <img src={branding.backgroundImage} alt="" className={classes['woven']} />
      )}
    </div>
  );
}
