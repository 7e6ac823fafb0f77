import { Page } from '../../components/page/page.tsx';
import { RolloutsTable } from './rollouts-table.tsx';

export const RolloutsPage = () => (
  <Page title="rollouts.title">
    <RolloutsTable />
  </Page>
);
