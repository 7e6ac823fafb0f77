import { And, Effect, If, Lit, Or, Sentence, Then } from '../../components/sentence/sentence.tsx';
import { Pill } from '../../components/status/status.tsx';
import { useT } from '../../lib/i18n.ts';
import { fieldOf, isRedirect, type Condition, type Rule } from './acl-draft.ts';

const SHOWN = 3;

/** `IF path starts with /admin AND address is not in 10.0.0.0/8 THEN deny` */
export function AclSentence({ rule }: { rule: Rule }) {
  const t = useT();
  return (
    <Sentence>
      {rule.conditions.map((condition, i) => (
        // oxlint-disable-next-line react/no-array-index-key -- a condition is identified by its position
        <span key={i}>
          {i === 0 ? <If /> : condition.join === 'or' ? <Or /> : <And />} <ConditionWords condition={condition} />{' '}
        </span>
      ))}
      <Then />
      <Effect refuse={!isRedirect(rule) && rule.action !== 'allow'}>{t(`acls.choices.action.${rule.action}`)}</Effect>
      {rule.target !== null && <Lit>{rule.target}</Lit>}
      {rule.monitor && <Pill tone="warn">{t('acls.monitored')}</Pill>}
      {!rule.enabled && <Pill tone="off">{t('common.off')}</Pill>}
    </Sentence>
  );
}

function ConditionWords({ condition }: { condition: Condition }) {
  const t = useT();
  const { field, name } = fieldOf(condition);
  const { operator, value } = condition;
  const values = typeof value === 'boolean' ? [] : [value].flat();
  return (
    <>
      {t(`acls.choices.field.${field}`)}
      {name !== null && <Lit>{name}</Lit>}{' '}
      {t(operator === 'exists' && value === false ? 'acls.absent' : `acls.choices.operator.${operator}`)}{' '}
      {values.slice(0, SHOWN).map((one) => (
        <Lit key={one}>{one === '' ? '""' : one}</Lit>
      ))}
      {values.length > SHOWN && t('shared.rules.more', { count: values.length - SHOWN })}
    </>
  );
}
