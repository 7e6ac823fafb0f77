import { Tooltip } from '@mantine/core';
import { useT, useLanguage } from '../../lib/i18n.ts';
import * as format from '../../lib/format.ts';
import { usePreferences } from '../../stores/preferences.ts';
import classes from './values.module.css';

/** A time in the reader's time zone. The tooltip has UTC and the relative time. */
export function Time({ at, milliseconds = false }: { at: string | Date | null | undefined; milliseconds?: boolean }) {
  const t = useT();
  const language = useLanguage();
  usePreferences(({ timeZone }) => timeZone);
  const date = format.dateOf(at);
  if (!date) return <Nothing />;
  const more = () =>
    t('common.time.utc', { utc: format.utc(date), relative: format.relative(date, new Date(), language) });
  return (
    <Tooltip label={<Late text={more} />}>
      <time dateTime={date.toISOString()} className={classes['whole']}>
        {format.time(date, { milliseconds })}
      </time>
    </Tooltip>
  );
}

/** Evaluated when shown, so that relative times are current. */
const Late = ({ text }: { text: () => string }) => <>{text()}</>;

export const Nothing = () => <span className={classes['nothing']}>{format.nothing}</span>;

const number =
  (write: (value: number) => string) =>
  ({ of }: { of: number | null | undefined }) =>
    of === null || of === undefined ? <Nothing /> : <span className={classes['whole']}>{write(of)}</span>;

export const Bytes = number(format.bytes);
export const Bits = number(format.bits);
export const Count = number(format.count);

/** A limit; 0 means none. */
export function Limit({ of }: { of: number }) {
  const t = useT();
  return of === 0 ? <>{t('common.unlimited')}</> : <Count of={of} />;
}

const hues = ['woad', 'plum', 'ochre', 'leaf', 'indigo', 'madder'] as const;
/** The same tag always has the same colour. */
const hueOf = (tag: string) => hues[[...tag].reduce((sum, char) => sum + (char.codePointAt(0) ?? 0), 0) % hues.length];

export function Tags({ of }: { of: readonly string[] }) {
  if (of.length === 0) return <Nothing />;
  return (
    <span className={classes['tags']}>
      {of.map((tag) => (
        <span key={tag} className={classes['tag']} data-hue={hueOf(tag)}>
          {tag}
        </span>
      ))}
    </span>
  );
}

export function Kbd({ children }: { children: string }) {
  return <kbd className={classes['kbd']}>{children}</kbd>;
}
