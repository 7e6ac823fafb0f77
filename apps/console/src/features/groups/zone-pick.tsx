import { MetaSelect } from '../../components/fields/meta-select.tsx';
import { useT } from '../../lib/i18n.ts';
import type { MetaChoices } from '../../lib/use-meta.ts';
import classes from './groups.module.css';

interface ZonePickProps {
  choices: MetaChoices;
  value: string;
  onChange: (zoneId: string) => void;
}

/** Zone select beside the page title. */
export const ZonePick = ({ choices, value, onChange }: ZonePickProps) => (
  <MetaSelect
    aria-label={useT()('groups.zone')}
    className={classes['zone'] ?? ''}
    choices={choices}
    value={value}
    allowDeselect={false}
    onChange={(next) => next && onChange(next)}
  />
);
