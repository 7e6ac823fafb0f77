import { useParams, type Params } from 'react-router-dom';

/** The named parts of the address; the route has them, or the page is mounted in a wrong place. */
export function useRouteParams<const Name extends string>(...names: Name[]): Record<Name, string> {
  const params = useParams();
  if (hasAll(params, names)) return params;
  throw new Error(`This route lacks one of :${names.join(', :')}`);
}

const hasAll = <Name extends string>(
  params: Readonly<Params>,
  names: readonly Name[],
): params is Record<Name, string> => names.every((name) => params[name] !== undefined);
