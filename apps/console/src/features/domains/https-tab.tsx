import { Section } from '../../components/page/section.tsx';
import { Status } from '../../components/status/status.tsx';
import { useT } from '../../lib/i18n.ts';
import type { Domain } from './origins-draft.ts';

/** How visitors and the origin are spoken to in TLS; what can be set is on the other tabs. */
export function HttpsTab({ domain }: { domain: Domain }) {
  const t = useT();
  return (
    <>
      <Section title="domains.https.certificate" why="domains.https.certificateWhy">
        <Status kind="cert" value={domain.certStatus} />
      </Section>
      <Section title="domains.https.force" why="domains.https.forceWhy">
        {t(domain.forceSSL ? 'domains.https.forced' : 'domains.https.notForced')}
      </Section>
      <Section title="domains.https.origin" why="domains.https.originWhy">
        {t(`domains.choices.scheme.${domain.scheme}`)}
      </Section>
    </>
  );
}
