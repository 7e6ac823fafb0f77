import { QueryClientProvider } from '@tanstack/react-query';
import { Outlet } from 'react-router-dom';
import { queries } from '../lib/queries.ts';

/** Data providers, which the sign-in page does not load. */
export const SignedIn = () => (
  <QueryClientProvider client={queries}>
    <Outlet />
  </QueryClientProvider>
);
