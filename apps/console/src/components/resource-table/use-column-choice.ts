import { prefer, usePreferences } from '../../stores/preferences.ts';

/** Which columns are on: those of the page, changed by what was chosen before in this browser. */
export function useColumnChoice(table: string, columns: readonly { key: string; hidden?: boolean }[]) {
  const kept = usePreferences((preferences) => preferences.columns[table]);
  const shown: Record<string, boolean> = Object.fromEntries(
    columns.map(({ key, hidden = false }) => [key, kept?.[key] ?? !hidden]),
  );
  const choose = (key: string, on: boolean) =>
    prefer(({ columns: all }) => ({ columns: { ...all, [table]: { ...all[table], [key]: on } } }));
  return { shown, choose };
}
