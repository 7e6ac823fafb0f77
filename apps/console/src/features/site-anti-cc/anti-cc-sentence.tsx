import { And, Effect, If, Lit, Sentence, Then } from '../../components/sentence/sentence.tsx';
import { count, time } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import { EXEMPT, type AntiCCDraft } from './anti-cc-drafts.ts';

export function AntiCCSentence({ rule }: { rule: AntiCCDraft }) {
  const t = useT();
  const isExempt = rule.mode === EXEMPT;
  const raises = [
    rule.siteRate > 0 && t('siteAntiCC.sentence.siteRate', { rate: count(rule.siteRate) }),
    rule.errorPercent > 0 && t('siteAntiCC.sentence.errorPercent', { percent: rule.errorPercent }),
    rule.originMs > 0 && t('siteAntiCC.sentence.originMs', { ms: count(rule.originMs) }),
  ].filter((one) => one !== false);
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
      {rule.header !== '' && (
        <>
          <And /> <Lit>{rule.headerValue === '' ? rule.header : `${rule.header}: ${rule.headerValue}`}</Lit>
        </>
      )}
      <Then />
      <Effect refuse={!isExempt && !rule.monitor}>{t(`siteAntiCC.modes.${rule.mode}`)}</Effect>{' '}
      {!isExempt &&
        (rule.frequency === 0
          ? t('siteAntiCC.sentence.everyone')
          : t('siteAntiCC.sentence.frequency', { count: count(rule.frequency), seconds: rule.seconds }))}
      {!isExempt &&
        rule.frequency > 0 &&
        raises.length > 0 &&
        t('siteAntiCC.sentence.raises', { list: raises.join(t('siteAntiCC.sentence.or')) })}
      {!isExempt && rule.monitor && t('siteAntiCC.sentence.monitor')}
      {rule.endsAt !== null && t('siteAntiCC.sentence.ends', { time: time(rule.endsAt) })}
    </Sentence>
  );
}
