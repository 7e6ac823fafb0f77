import { useParams, type Params } from 'react-router-dom';

/** Route parameters. Throws when the route lacks one. */
export function useRouteParams<const Name extends string>(...names: Name[]): Record<Name, string> {
  const params = useParams();
  if (hasAll(params, names)) return params;
  throw new Error(`This route lacks one of :${names.join(', :')}`);
}

const hasAll = <Name extends string>(
  params: Readonly<Params>,
  names: readonly Name[],
): params is Record<Name, string> => names.every((name) => params[name] !== undefined);
