import { QueryClientProvider } from '@tanstack/react-query';
import { Outlet } from 'react-router-dom';
import { queries } from '../lib/queries.ts';

/** Gives pages their data; the sign-in form does not load it. */
export const SignedIn = () => (
  <QueryClientProvider client={queries}>
    <Outlet />
  </QueryClientProvider>
);
