import type { ReactNode } from 'react';
import { Effect, If, Lit, Sentence, Then } from '../../components/sentence/sentence.tsx';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import {
  countedBy,
  sourceOf,
  type FrequencyDraft,
  type LimitConnDraft,
  type LimitDraft,
  type LimitReqDraft,
} from './limit-drafts.ts';

export function FrequencySentence({ rule }: { rule: FrequencyDraft }) {
  const t = useT();
  const limit = { times: count(rule.times), seconds: count(rule.seconds) };
  return <LimitSentence rule={rule}>{t('limits.sentence.frequency', limit)}</LimitSentence>;
}

export function LimitReqSentence({ rule }: { rule: LimitReqDraft }) {
  const t = useT();
  const limit = { rate: count(rule.rate), burst: count(rule.burst) };
  return (
    <LimitSentence rule={rule}>
      {t(rule.queue ? 'limits.sentence.queued' : 'limits.sentence.rate', limit)}
    </LimitSentence>
  );
}

export function LimitConnSentence({ rule }: { rule: LimitConnDraft }) {
  const t = useT();
  return <LimitSentence rule={rule}>{t('limits.sentence.concurrent', { max: count(rule.max) })}</LimitSentence>;
}

function LimitSentence({ rule, children }: { rule: LimitDraft; children: ReactNode }) {
  const t = useT();
  return (
    <Sentence>
      <If />{' '}
      {rule.urlRegex === '' ? (
        t('shared.paths.sentence.all')
      ) : (
        <>
          {t('shared.paths.sentence.regex')} <Lit>{rule.urlRegex}</Lit>
        </>
      )}
      <Then />
      <Effect refuse={!rule.monitor}>{children}</Effect>{' '}
      {t(`limits.sentence.type.${countedBy(rule)}`, { header: sourceOf(rule.header).name })}
      {rule.monitor ? t('limits.sentence.monitor') : t('limits.sentence.status', { status: rule.status })}
    </Sentence>
  );
}
