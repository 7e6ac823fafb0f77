import { PathSentence } from '../../components/rules/path-sentence.tsx';
import { Effect, If, Sentence, Then } from '../../components/sentence/sentence.tsx';
import { useT } from '../../lib/i18n.ts';
import type { RateDraft } from './rate-draft.ts';

export function RateSentence({ rule }: { rule: RateDraft }) {
  const t = useT();
  return (
    <Sentence>
      <If /> <PathSentence paths={rule} />
      <Then />
      <Effect>{t('rates.sentence.rate', { rate: rule.rate })}</Effect>
      {rule.after > 0 && <span>{t('rates.sentence.after', { after: rule.after })}</span>}
    </Sentence>
  );
}
