/** Ref callback that scrolls the element into view. */
export const intoView = (element: Element | null) => element?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
