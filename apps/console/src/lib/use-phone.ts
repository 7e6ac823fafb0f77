import { useMediaQuery } from '@mantine/hooks';

/** The widths at which rows take two lines and the rail is a sheet; stylesheets say the same. */
export const usePhone = () => useMediaQuery('(max-width: 48em)') ?? false;
