/** Downloads a file. */
export function saveFile(fileName: string, parts: string[], type: string) {
  const url = URL.createObjectURL(new Blob(parts, { type: `${type};charset=utf-8` }));
  const link = document.createElement('a');
  link.href = url;
  // Some systems forbid these characters in file names.
  link.download = fileName.replace(/[/\\:*?"<>|]/g, '-');
  link.click();
  URL.revokeObjectURL(url);
}
