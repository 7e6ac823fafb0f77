/** Work that waits longer is late. In a file of its own, because a dashboard loads no schemas. */
export const LATE_SECONDS = 300;
