import { useMediaQuery } from '@mantine/hooks';

/** Below this width rows take two lines and the rail is a sheet. Style sheets use the same width. */
export const usePhone = () => useMediaQuery('(max-width: 48em)') ?? false;
