import { branding } from '@edgeloom/contract/branding/branding.endpoints.ts';
import { IconPalette } from '@tabler/icons-react';
import { PictureField } from '../../components/fields/picture-field.tsx';
import { TextField } from '../../components/fields/text-field.tsx';
import { Page } from '../../components/page/page.tsx';
import { ResourceForm } from '../../components/resource-form/resource-form.tsx';
import { edit, remove } from '../../components/resource-table/actions.tsx';
import type { Column, RowOf } from '../../components/resource-table/columns.tsx';
import { ResourceTable } from '../../components/resource-table/resource-table.tsx';
import { BrandPreview } from './brand-preview.tsx';
import classes from './branding.module.css';

type Row = RowOf<typeof branding.list>;

const pictureColumn = (key: 'logo' | 'sidebarLogo' | 'favicon', priority: 2 | 3): Column<Row> => ({
  key,
  sort: false,
  priority,
  render: ({ [key]: address }) => address !== null && <img src={address} alt="" className={classes['small']} />,
});
const columns: Column<Row>[] = [
  { key: 'host' },
  { key: 'title' },
  pictureColumn('sidebarLogo', 2),
  pictureColumn('logo', 3),
  pictureColumn('favicon', 3),
  { key: 'updatedAt', as: 'time' },
];

/** Brandings by host name. */
export function BrandingPage() {
  return (
    <Page title="branding.title" create={<BrandingForm />} creates={branding.create}>
      <ResourceTable
        endpoint={branding.list}
        columns={columns}
        row={(row) => [edit(<BrandingForm value={row} />, { can: branding.update.can }), remove(branding.remove)]}
        phone={({ title }) => ({ below: title, end: null })}
        empty={{ icon: IconPalette }}
      />
    </Page>
  );
}

const slots = ['sidebarLogo', 'sidebarSimpleLogo', 'logo', 'backgroundImage', 'favicon'] as const;

function BrandingForm({ value }: { value?: Row }) {
  return (
    <ResourceForm
      create={branding.create}
      update={branding.update}
      value={value && { id: value.id, host: value.host, title: value.title, copyright: value.copyright }}
    >
      <BrandPreview current={value ?? null} />
      <TextField name="host" placeholder="console.example.com" />
      <TextField name="title" placeholder="Edgeloom" />
      <TextField name="copyright" />
      {slots.map((slot) => (
        <PictureField key={slot} name={slot} current={value?.[slot] ?? null} />
      ))}
    </ResourceForm>
  );
}
