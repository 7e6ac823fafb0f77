// Overlays of all consoles, loaded on demand.
import { lazy } from 'react';
import type { Summonable } from '../components/frame/shortcuts.tsx';

export const over: Summonable = {
  Palette: lazy(async () => ({ default: (await import('../features/palette/palette.tsx')).Palette })),
  Keys: lazy(async () => ({ default: (await import('../features/palette/keys-dialog.tsx')).KeysDialog })),
};
