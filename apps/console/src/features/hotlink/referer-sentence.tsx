import { Lits, PathSentence } from '../../components/rules/path-sentence.tsx';
import { And, Effect, If, Lit, Sentence, Then } from '../../components/sentence/sentence.tsx';
import { useT } from '../../lib/i18n.ts';
import type { RefererDraft } from './referer-draft.ts';

export function RefererSentence({ rule }: { rule: RefererDraft }) {
  const t = useT();
  const { isBlack, referers, allowEmpty, action, target } = rule;
  const named = referers.length > 0;
  const which = isBlack ? 'isOn' : named ? 'isNotOn' : 'isNotOwn';
  return (
    <Sentence>
      <If /> <PathSentence paths={rule} /> <And />
      {(!isBlack || named || allowEmpty) && <span>{t(`hotlink.sentence.${which}`)}</span>}
      {(named || (isBlack && allowEmpty)) && <Lits of={referers} />}
      {!allowEmpty && <span>{t(isBlack && !named ? 'hotlink.sentence.isNone' : 'hotlink.sentence.orNone')}</span>}
      <Then />
      <Effect refuse>{t(`hotlink.sentence.${action}`)}</Effect>
      {action === 'redirect' && <Lit>{target || '…'}</Lit>}
    </Sentence>
  );
}
