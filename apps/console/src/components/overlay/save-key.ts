interface Key {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
}
export const isSaveKey = ({ key, ctrlKey, metaKey }: Key) => key.toLowerCase() === 's' && (ctrlKey || metaKey);

/** Ctrl S in a drawer submits the form that has focus, or its only form. */
export function submitFormIn(drawer: Element) {
  const forms = [...drawer.querySelectorAll('form')].filter((form) => submitOf(form) !== null);
  const form = forms.find((one) => one.contains(document.activeElement)) ?? (forms.length === 1 ? forms[0] : undefined);
  if (form) form.requestSubmit(submitOf(form));
}
const submitOf = (form: HTMLFormElement) => form.querySelector<HTMLElement>('button[type="submit"]:not(:disabled)');

/** Whether a drawer or dialog covers the element. */
export const isCovered = (element: Element | null) =>
  [...document.querySelectorAll('[aria-modal="true"]')].some((dialog) => !dialog.contains(element));
