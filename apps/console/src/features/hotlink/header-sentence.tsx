import { asksValue } from '@edgeloom/contract/hotlink/hotlink.ts';
import { Effect, If, Lit, Sentence, Then } from '../../components/sentence/sentence.tsx';
import { useT } from '../../lib/i18n.ts';
import type { HeaderDraft } from './header-draft.ts';

export function HeaderSentence({ rule: { name, operator, value, action } }: { rule: HeaderDraft }) {
  const t = useT();
  return (
    <Sentence>
      <If /> <span>{t('hotlink.sentence.header')}</span>
      <Lit>{name || '…'}</Lit>
      <span>{t(`hotlink.sentence.${operator}`)}</span>
      {asksValue(operator) && <Lit>{value || '…'}</Lit>}
      <Then />
      <Effect refuse>{t(`hotlink.sentence.${action}`)}</Effect>
    </Sentence>
  );
}
