import type { BrandSlot } from '@edgeloom/contract/branding/branding.ts';
import { useMantineTheme } from '@mantine/core';
import { useCallback } from 'react';
import { Picture } from '../../components/fields/picture.tsx';
import { Mark } from '../../components/frame/mark.tsx';
import { useForm } from '../../components/resource-form/form-state.ts';
import { useT } from '../../lib/i18n.ts';
import { cssVariablesResolver } from '../../theme/tokens.ts';
import classes from './branding.module.css';

const year = new Date().getFullYear();

type Pictures = Readonly<Record<BrandSlot, string | null>>;

/** Preview of rail and sign-in page in both themes. */
export function BrandPreview({ current }: { current: Pictures | null }) {
  const t = useT();
  return (
    <figure className={classes['preview']} aria-label={t('branding.preview')}>
      <Scene scheme="light" current={current} />
      <Scene scheme="dark" current={current} />
    </figure>
  );
}

function Scene({ scheme, current }: { scheme: 'light' | 'dark'; current: Pictures | null }) {
  const t = useT();
  const { values } = useForm();
  const theme = useMantineTheme();
  // Defines the other theme's variables for this element only.
  const dye = useCallback(
    (element: HTMLElement | null) => {
      for (const [name, value] of Object.entries(cssVariablesResolver(theme)[scheme]))
        element?.style.setProperty(name, value);
    },
    [theme, scheme],
  );
  const text = (name: string) => {
    const value = values[name];
    return typeof value === 'string' ? value.trim() : '';
  };
  const picture = (slot: BrandSlot) => {
    const value = values[slot];
    if (value instanceof File) return value;
    return value === '' ? null : (current?.[slot] ?? null);
  };
  const name = text('title') || t('app.product');
  const [rail, simple, logo, background] = [
    picture('sidebarLogo'),
    picture('sidebarSimpleLogo'),
    picture('logo'),
    picture('backgroundImage'),
  ];
  return (
    <div ref={dye} className={classes['scene']}>
      <div className={classes['rail']}>
        <div className={classes['line']}>
          {rail === null && <Simple of={simple} />}
          {rail === null ? <b>{name}</b> : <Picture of={rail} className={classes['logo'] ?? ''} />}
        </div>
        <span className={classes['entry']} data-current />
        <span className={classes['entry']} />
        <span className={classes['entry']} />
      </div>
      <div className={classes['narrow']}>
        <Simple of={simple} />
      </div>
      <div className={classes['signIn']}>
        <div className={classes['line']}>
          {logo === null ? (
            <>
              <Mark size={16} />
              <b>{name}</b>
            </>
          ) : (
            <Picture of={logo} className={classes['logo'] ?? ''} />
          )}
        </div>
        <span className={classes['input']} />
        <span className={classes['input']} />
        <span className={classes['button']} />
        <span className={classes['copyright']}>{text('copyright') || `© ${year} Edgeloom`}</span>
      </div>
      <div className={classes['woven']}>
        {background !== null && <Picture of={background} className={classes['background'] ?? ''} />}
      </div>
    </div>
  );
}

const Simple = ({ of }: { of: string | File | null }) =>
  of === null ? <Mark size={16} /> : <Picture of={of} className={classes['simple'] ?? ''} />;
