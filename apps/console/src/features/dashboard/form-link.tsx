import type { MouseEvent } from 'react';
import { Link, type LinkProps } from 'react-router-dom';
import { to as inConsole } from '../../lib/family.ts';
import { placeOf, usePalette } from '../../stores/palette.ts';

interface FormLinkProps extends Omit<LinkProps, 'to' | 'onClick'> {
  /** Path within the console. */
  to: string;
  /** Presses the main action of the page, as the palette does. A new tab shows only the page. */
  opensForm: boolean;
}

/** A link to a page and the form of its main action. */
export function FormLink({ to, opensForm, ...props }: FormLinkProps) {
  const address = inConsole(to);
  const open = ({ metaKey, ctrlKey, shiftKey }: MouseEvent) => {
    if (!opensForm || metaKey || ctrlKey || shiftKey) return;
    usePalette.setState({ creating: { place: placeOf(address), press: ['main [data-main-action]'] } });
  };
  return <Link {...props} to={address} onClick={open} />;
}
