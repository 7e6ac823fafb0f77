import type { Paths } from '@edgeloom/contract/common/paths.ts';
import { useT } from '../../lib/i18n.ts';
import { Lit } from '../sentence/sentence.tsx';

const SHOWN = 4;

/** `path starts with /img/` */
export function PathSentence({ paths: { type, value } }: { paths: Paths }) {
  const t = useT();
  return (
    <>
      <span>{t(`shared.paths.sentence.${type}`)}</span>
      {type !== 'all' && <Lits of={type === 'fileType' ? [value.join(' ')] : value} />}
    </>
  );
}

/** The first values, and the number of others. */
export function Lits({ of }: { of: readonly string[] }) {
  const t = useT();
  const lits = of.slice(0, SHOWN);
  return (
    <>
      {lits.map((value) => (
        <Lit key={value}>{value || '…'}</Lit>
      ))}
      {lits.length === 0 && <Lit>…</Lit>}
      {of.length > lits.length && <span>{t('shared.rules.more', { count: of.length - lits.length })}</span>}
    </>
  );
}
