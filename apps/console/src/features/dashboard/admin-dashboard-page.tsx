import { Page } from '../../components/page/page.tsx';
import { Health } from './health.tsx';

export function AdminDashboardPage() {
  return (
    <Page title="dashboard.title">
      <Health />
    </Page>
  );
}
