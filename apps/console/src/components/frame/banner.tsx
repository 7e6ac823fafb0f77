import type { Icon } from '@tabler/icons-react';
import type { ReactNode } from 'react';
import classes from './frame.module.css';

interface BannerProps {
  tone: 'held' | 'warn' | 'bad' | 'busy' | 'off';
  icon: Icon;
  children: ReactNode;
  /** A link or button that resolves the banner. */
  action?: ReactNode;
}

/** One line under the top bar, shown as long as its condition holds. */
export const Banner = ({ tone, icon: Mark, children, action }: BannerProps) => (
  <p className={classes['banner']} data-tone={tone}>
    <Mark size={15} stroke={1.6} aria-hidden />
    <span className={classes['bannerText']}>{children}</span>
    {action}
  </p>
);
