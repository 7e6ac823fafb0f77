import type { ZoneAntiCC } from '@edgeloom/contract/zone-anti-cc/zone-anti-cc.ts';
import { useT } from '../../lib/i18n.ts';
import classes from './anti-cc-tab.module.css';

/** Preview of the challenge page. The real page is in agent/lua/edge/anti_cc; a test compares the texts. */
export function ChallengePreview({ mode }: { mode: ZoneAntiCC['mode'] }) {
  const t = useT();
  return (
    <figure className={classes['preview']}>
      <figcaption>{t('antiCC.preview')}</figcaption>
      {mode === 4 ? (
        <p className={classes['nothing']}>{t('antiCC.noPage')}</p>
      ) : (
        <div className={classes['page']}>
          <b>{t('antiCC.page.title')}</b>
          <p>{t('antiCC.page.why')}</p>
          <p>{t(`antiCC.page.modes.${mode}`)}</p>
          {mode === 1 && <span className={classes['bar']} />}
          {mode === 2 && (
            <>
              <Sample />
              <span className={classes['box']} />
              <span className={classes['key']}>{t('antiCC.page.send')}</span>
            </>
          )}
          {mode === 3 && <span className={classes['key']}>{t('antiCC.page.press')}</span>}
        </div>
      )}
    </figure>
  );
}

const Sample = () => (
  <svg viewBox="0 0 208 72" className={classes['picture'] ?? ''} aria-hidden>
    <rect width="208" height="72" fill="#fff" />
    <g fill="none" stroke="#111" strokeWidth="4" strokeLinecap="round">
      <path d="M22 52 30 20 44 50M26 42 40 40" />
      <path d="M66 20 64 54M92 24 66 38 90 56" />
      <path d="M108 24 132 20 118 54" />
      <path d="M150 54 148 22 166 44 178 20 180 52" />
    </g>
    <path d="M0 46Q50 20 104 40T208 32" fill="none" stroke="#333" strokeWidth="1.6" />
  </svg>
);
