import type { ReactNode } from 'react';
import { Section } from '../../components/page/section.tsx';
import { useT, type Word } from '../../lib/i18n.ts';
import { useSession } from '../../stores/session.ts';

interface RootOnlyProps {
  title: Word;
  why: Word;
  /** For accounts that cannot change the setting. */
  value: string;
  children: ReactNode;
}

/** The form for the root account itself. Other accounts, and those who act as it, only see the value. */
export function RootOnly({ title, why, value, children }: RootOnlyProps) {
  const t = useT();
  const mayChange = useSession(({ account }) => account?.isRoot === true && account.proxy === null);
  if (mayChange) return children;
  return (
    <Section title={title} why={why}>
      <p>{value}</p>
      <p>{t('systemSetting.rootOnly')}</p>
    </Section>
  );
}
