import type { Received } from '@edgeloom/contract/endpoint.ts';
import { cardTypes } from '@edgeloom/contract/statistics/type-numbers.ts';
import type { statistics } from '@edgeloom/contract/statistics/statistics.endpoints.ts';
import { bits, bytes, nothing, percent, spokenCount } from '../../lib/format.ts';
import { useLanguage, useT } from '../../lib/i18n.ts';
import type { Language } from '../../lib/languages.ts';
import { changeOf, parted } from './change.ts';
import { countedHours } from './counted-hours.ts';
import { Spark } from '../../components/chart/spark.tsx';
import classes from './statistics.module.css';

type CardFigures = Received<typeof statistics.cards>;
type Kind = keyof typeof cardTypes;

const kinds: readonly Kind[] = ['traffic', 'requests', 'hitRate', 'addresses', 'bandwidth95'];

const shown: Readonly<Record<Kind, (value: number, language: Language) => string>> = {
  traffic: bytes,
  requests: spokenCount,
  hitRate: percent,
  addresses: spokenCount,
  bandwidth95: bits,
};

interface CardsProps {
  figures: CardFigures;
  /** Values over time, for the figures that have them. */
  sparks: Partial<Record<Kind, readonly (number | null)[]>>;
}

type Times = Pick<CardFigures, 'from' | 'to'>;
/** False for the figures of an earlier release, which have no times of their own. */
const isWiderThan = (card: Times, asked: Times) =>
  Date.parse(card.from) < Date.parse(asked.from) || Date.parse(card.to) > Date.parse(asked.to);

/** Key figures in a row, each with its change against the period before. */
export function Cards({ figures, sparks }: CardsProps) {
  const t = useT();
  const language = useLanguage();
  const hasBefore = figures.data.some(({ previous }) => previous !== null);
  return (
    <dl className={classes['cards']}>
      {kinds.map((kind) => {
        const card = figures.data.find(({ type }) => type === cardTypes[kind]);
        const value = card?.value ?? null;
        const { number, unit } = parted(value === null ? nothing : shown[kind](value, language));
        const isWider = card !== undefined && value !== null && isWiderThan(card, figures);
        const sign = isWider ? '≤\u00a0' : card?.isEstimate ? '≈\u00a0' : '';
        const change = changeOf(kind, value, card?.previous ?? null);
        const isNotCompared = kind === 'addresses' && card?.previous === null && hasBefore;
        const spark = sparks[kind];
        return (
          <div key={kind} className={classes['card']}>
            <dt>{t(`statistics.cards.${kind}`)}</dt>
            <dd className={classes['value']} title={card?.isEstimate ? t('statistics.estimate') : undefined}>
              {sign}
              {number}
              {unit !== '' && <small>{unit === '%' || unit.length === 1 ? unit : `\u00a0${unit}`}</small>}
            </dd>
            <dd className={classes['change']}>
              {isWider ? (
                t('statistics.countedByHour', { times: countedHours(card, new Date()) })
              ) : change ? (
                <>
                  <b data-tone={change.tone ?? undefined}>
                    {change.isPoints ? t('statistics.points', { points: change.text }) : change.text}
                  </b>{' '}
                  {t('statistics.thanBefore')}
                </>
              ) : (
                t(isNotCompared ? 'statistics.notCompared' : 'statistics.nothingBefore')
              )}
            </dd>
            {spark && <Spark values={spark} />}
          </div>
        );
      })}
    </dl>
  );
}
