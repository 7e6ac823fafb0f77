// Dialogs that open over every page of the three consoles. Each is loaded when it is first opened.
import { useEffect, useState, type ComponentType } from 'react';
import type { Summonable } from '../components/frame/shortcuts.tsx';
import { toastError } from '../lib/errors.ts';
import { learnPages } from '../lib/i18n.ts';
import { withinChunkLimit } from '../lib/time-limit.ts';

export const over: Summonable = {
  Palette: onDemand(async () => (await import('../features/palette/palette.tsx')).Palette),
  Keys: onDemand(async () => (await import('../features/palette/keys-dialog.tsx')).KeysDialog),
};

/** If loading fails, an error is shown and the page stays. The next opening retries. */
function onDemand<Props extends { onClose: () => void }>(load: () => Promise<ComponentType<Props>>) {
  let loaded: ComponentType<Props> | null = null;
  return function OnDemand(props: Props) {
    const [Part, setPart] = useState<ComponentType<Props> | null>(() => loaded);
    const { onClose } = props;
    useEffect(() => {
      if (loaded) return;
      const open = async () => {
        try {
          [loaded] = await Promise.all([withinChunkLimit(load()), learnPages()]);
          setPart(() => loaded);
        } catch (error) {
          toastError(error);
          onClose();
        }
      };
      void open();
      // oxlint-disable-next-line react-hooks/exhaustive-deps -- once for each opening
    }, []);
    return Part && <Part {...props} />;
  };
}
