import { Page } from '../../components/page/page.tsx';
import { Attention } from './attention.tsx';
import { Health } from './health.tsx';

export function AdminDashboardPage() {
  return (
    <Page title="dashboard.title">
      <Attention />
      <Health />
    </Page>
  );
}
