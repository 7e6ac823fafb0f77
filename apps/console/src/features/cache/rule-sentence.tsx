import { PathSentence } from '../../components/rules/path-sentence.tsx';
import { Effect, If, Lit, Sentence, Then } from '../../components/sentence/sentence.tsx';
import { useT, type T } from '../../lib/i18n.ts';
import { inLargestUnit } from './cache-time.ts';
import { actionOf, type DraftRule } from './rules-draft.ts';

/** A rule as a sentence. */
export function RuleSentence({ rule }: { rule: DraftRule }) {
  const t = useT();
  const action = actionOf(rule);
  const names = rule.query === 'listed' ? rule.queryNames.join(' ') : '';
  return (
    <Sentence>
      <If /> <PathSentence paths={rule} />
      <Then />
      {action === 'never' ? (
        <Effect refuse>{t('cache.sentence.never')}</Effect>
      ) : (
        <>
          <Effect>
            {action === 'origin'
              ? t('cache.sentence.origin')
              : t('cache.sentence.cacheFor', { time: timeOf(rule.cacheTime, t) })}
          </Effect>
          {rule.query === 'none' && t('cache.sentence.queryNone')}
          {rule.query === 'sorted' && t('cache.sentence.querySorted')}
          {names && t('cache.sentence.queryListed')}
          {names && <Lit>{names}</Lit>}
          {rule.cookies === 'all' && t('cache.sentence.cookiesAll')}
          {rule.cookies === 'listed' && t('cache.sentence.cookiesListed')}
          {rule.cookies === 'listed' && <Lit>{rule.cookieNames.join(' ') || '…'}</Lit>}
          {rule.passCookies.length > 0 && t('cache.sentence.pass')}
          {rule.passCookies.length > 0 && <Lit>{rule.passCookies.join(' ')}</Lit>}
          {rule.stripCookies && t('cache.sentence.strip')}
          {(rule.staleWhileRevalidate ?? 0) > 0 && t('cache.sentence.stale')}
          {rule.slices && t('cache.sentence.slices')}
          {rule.overrideOrigin && t('cache.sentence.override')}
          {action === 'cache' && rule.honourOrigin && t('cache.sentence.honour')}
        </>
      )}
      {rule.browserTime === 0 && t('cache.sentence.browserAsks')}
      {rule.browserTime ? t('cache.sentence.browser', { time: timeOf(rule.browserTime, t) }) : null}
    </Sentence>
  );
}

function timeOf(seconds: number, t: T) {
  const { count, unit } = inLargestUnit(seconds);
  return t(`cache.time.${unit}`, { count });
}
