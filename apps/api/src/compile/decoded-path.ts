/** Nodes compare nginx's decoded path. A path with a stray % is compared as written. */
export function decodedPath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
