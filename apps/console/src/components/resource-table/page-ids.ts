import { createContext } from 'react';

/** The ids of the rows on the page, sorted: for cells that read figures of all rows with one call. */
export const PageIds = createContext<readonly string[]>([]);
