// Why the firewall refused or reported a request.
import type { Received } from '@edgeloom/contract/endpoint.ts';
import type { logs } from '@edgeloom/contract/logs/logs.endpoints.ts';
import type { ReactNode } from 'react';
import { tMaybe, useT } from '../../lib/i18n.ts';
import { useRuleName } from '../waf/use-rule-name.ts';
import { utf8Parts, utf8Text } from './utf8-text.ts';
import { VisitorText } from './visitor-text.tsx';
import classes from './logs.module.css';

type Explanation = NonNullable<Received<typeof logs.request>['waf']>;

export function WafExplanation({ waf }: { waf: Explanation }) {
  const t = useT();
  const ruleName = useRuleName(true);
  return (
    <section aria-label={t('logs.waf.title')}>
      <h3>{t('logs.waf.title')}</h3>
      <dl className={classes['facts']}>
        <Row term={t('logs.waf.place')}>
          {tMaybe(`logs.waf.places.${waf.place}`) ?? waf.place}
          {waf.name !== undefined && (
            <>
              {' · '}
              <VisitorText text={utf8Text(waf.name)} />
            </>
          )}
        </Row>
        {waf.place !== 'body' && (
          <Row term={t('logs.waf.match')}>
            <Match waf={waf} />
          </Row>
        )}
        {waf.steps && (
          <Row term={t('logs.waf.decoded')}>{waf.steps.map((step) => t(`logs.waf.steps.${step}`)).join(' → ')}</Row>
        )}
        <Row term={t('logs.waf.rules')}>
          <ul className={classes['wafList']}>
            {waf.rules.map(({ id, points }) => (
              <li key={id}>
                {ruleName(id)} <code>{id}</code> {t('logs.waf.points', { count: points })}
              </li>
            ))}
          </ul>
        </Row>
        {waf.score !== undefined && <Row term={t('logs.waf.score')}>{waf.score.toFixed(1)}</Row>}
        {waf.tokens && (
          <Row term={t('logs.waf.tokens')}>
            <ul className={classes['wafList']}>
              {waf.tokens.map(({ text, weight }) => (
                <li key={text}>
                  <code>
                    <VisitorText text={text} />
                  </code>{' '}
                  +{weight.toFixed(2)}
                </li>
              ))}
            </ul>
          </Row>
        )}
      </dl>
    </section>
  );
}

function Row({ term, children }: { term: string; children: ReactNode }) {
  return (
    <div className={classes['fact']}>
      <dt>{term}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The excerpt, with the match of the first rule that has one in it. */
export function Match({ waf: { excerpt, rules } }: { waf: Pick<Explanation, 'excerpt' | 'rules'> }) {
  const t = useT();
  if (excerpt === undefined) return <>{t('logs.waf.hidden')}</>;
  const { from = 0, to = 0 } = rules.find((rule) => rule.from !== undefined) ?? {};
  const [before, match, after] = utf8Parts(excerpt, from, to);
  return (
    <code className={classes['wafMatch']}>
      <VisitorText text={before} />
      {match !== '' && (
        <mark>
          <VisitorText text={match} />
        </mark>
      )}
      <VisitorText text={after} />
    </code>
  );
}
