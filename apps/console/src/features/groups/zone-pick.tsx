import { Select } from '@mantine/core';
import { useT } from '../../lib/i18n.ts';
import classes from './groups.module.css';

interface ZonePickProps {
  zones: { value: string; label: string }[];
  value: string;
  onChange: (zoneId: string) => void;
}

/** Which zone the page is about, beside its title. */
export const ZonePick = ({ zones, value, onChange }: ZonePickProps) => (
  <Select
    aria-label={useT()('groups.zone')}
    className={classes['zone'] ?? ''}
    data={zones}
    value={value}
    allowDeselect={false}
    searchable
    onChange={(next) => next && onChange(next)}
  />
);
