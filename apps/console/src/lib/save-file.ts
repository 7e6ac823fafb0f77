/** Hands the browser a file to keep. */
export function saveFile(fileName: string, parts: string[], type: string) {
  const url = URL.createObjectURL(new Blob(parts, { type: `${type};charset=utf-8` }));
  const link = document.createElement('a');
  link.href = url;
  // A file's name takes neither slashes nor colons everywhere.
  link.download = fileName.replace(/[/\\:*?"<>|]/g, '-');
  link.click();
  URL.revokeObjectURL(url);
}
