const files = import.meta.glob<object>(['./*.json', '!./{app,auth,common,errors}.json'], {
  eager: true,
  import: 'default',
});

/** Messages of the pages behind the sign-in, by feature. */
export const words = Object.fromEntries(Object.entries(files).map(([path, file]) => [path.slice(2, -5), file]));
