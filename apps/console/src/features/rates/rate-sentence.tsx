import { PathSentence } from '../../components/rules/path-sentence.tsx';
import { Effect, If, Sentence, Then } from '../../components/sentence/sentence.tsx';
import { count } from '../../lib/format.ts';
import { useT } from '../../lib/i18n.ts';
import type { RateDraft } from './rate-draft.ts';

export function RateSentence({ rule }: { rule: RateDraft }) {
  const t = useT();
  return (
    <Sentence>
      <If /> <PathSentence paths={rule} />
      <Then />
      <Effect>{t('rates.sentence.rate', { rate: count(rule.rate) })}</Effect>
      {rule.after > 0 && t('rates.sentence.after', { after: count(rule.after) })}
    </Sentence>
  );
}
