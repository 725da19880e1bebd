import type { Route } from '../src/platform/http/index.ts'

/** Runs a route as the server does, as a person of the project. Returns the body of its answer. */
export async function runRoute(
  routes: readonly Route[],
  { last, project_id, params, query }: RouteCall,
): Promise<unknown> {
  const route = routes.find(({ url }) => url.endsWith(`/${last}`))
  if (route === undefined) throw new RangeError(`no route ${last}`)
  const answer = await route.run({
    params,
    query,
    body: undefined,
    caller: { kind: 'user', id: 'bench', project_id },
    headers: {},
    request_id: '',
    network: '',
    signal: new AbortController().signal,
    authoriseAgain: async () => undefined,
    callRoute: () => Promise.reject(new Error('no server')),
  })
  return answer.body
}

/** A call of a route. `last` is the last word of its URL. */
type RouteCall = {
  last: string
  project_id: string
  params: Readonly<Record<string, string>>
  query: Readonly<Record<string, string>>
}
