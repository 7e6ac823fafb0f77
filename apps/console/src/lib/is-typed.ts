const isField = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));

/** Whether the key goes to a text field or an editor. A checkbox uses only the space bar. */
export function isTyped(event: KeyboardEvent) {
  // Inside a shadow root `event.target` is the host.
  const target = event.composedPath()[0] ?? event.target;
  return isField(target) && !(target instanceof HTMLInputElement && /^(checkbox|radio)$/.test(target.type));
}
