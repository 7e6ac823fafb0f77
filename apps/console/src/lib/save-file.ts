/** Downloads a text file. */
export const saveFile = (fileName: string, parts: string[], type: string) =>
  saveBlob(fileName, new Blob(parts, { type: `${type};charset=utf-8` }));

export function saveBlob(fileName: string, blob: Blob) {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  // Some systems forbid these characters in file names.
  link.download = fileName.replace(/[/\\:*?"<>|]/g, '-');
  link.click();
  URL.revokeObjectURL(url);
}
