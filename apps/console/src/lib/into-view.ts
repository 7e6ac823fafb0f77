/** The ref of what is current in a row or a column that may have no room for all: it is not beyond the edge. */
export const intoView = (element: Element | null) => element?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
