import { useT } from '../../lib/i18n.ts';
import { branding } from '../../stores/branding.ts';
import { Mark } from './mark.tsx';
import classes from './brand.module.css';

/** Product name of the operator's branding. */
export function useProductName() {
  const t = useT();
  return branding.title || t('app.product');
}

/** Logo, or mark and name, at the top of the rail. A narrow rail shows the small logo or the mark. */
export function RailBrand() {
  const name = useProductName();
  const { sidebarLogo, sidebarSimpleLogo } = branding;
  return (
    <>
      {sidebarLogo !== null && <img src={sidebarLogo} alt={name} className={classes['logo']} />}
      <span className={classes['simple']} data-aside={sidebarLogo !== null || undefined}>
        {sidebarSimpleLogo === null ? <Mark /> : <img src={sidebarSimpleLogo} alt="" width={20} height={20} />}
      </span>
      {sidebarLogo === null && <span className={classes['name']}>{name}</span>}
    </>
  );
}

/** Logo of the sign-in page. */
export function SignInBrand() {
  const name = useProductName();
  if (branding.logo !== null) return <img src={branding.logo} alt={name} className={classes['logo']} />;
  return (
    <>
      <Mark size={22} />
      <span className={classes['large']}>{name}</span>
    </>
  );
}
