import type { FastifyRequest } from 'fastify'
import { runInInstallation } from '../tenancy/index.ts'
import type { AuthoriseAgain, Route } from './route.ts'
import type { Authorize, BrowserRequest, Caller, Credentials } from './route-access.ts'

/** Authorises a request by its credentials. Returns null on public routes. */
export async function authorizeRequest(
  route: Route,
  request: FastifyRequest,
  authorize: Authorize,
): Promise<Caller | null> {
  if (route.scope.level === 'public') return null
  return authorize(route, credentialsOf(request))
}

function credentialsOf(request: FastifyRequest): Credentials & { browser: BrowserRequest } {
  const query = request.query as Record<string, string | undefined>
  return {
    authorization: request.headers.authorization,
    api_key: firstValue(request.headers['x-api-key']),
    project: firstValue(request.headers['x-project-id']) ?? query['project_id'],
    origin: request.headers.origin,
    params: request.params as Record<string, string>,
    browser: { method: request.method, headers: request.headers },
  }
}

/** Returns the function that checks the credentials of a request again, in the project of its caller. */
export function recheckOf(
  route: Route,
  request: FastifyRequest,
  { caller, authorize }: { caller: Caller | null; authorize: Authorize },
): AuthoriseAgain {
  const { auth, scope } = route
  return async (key) => {
    if (caller === null) return
    const given = credentialsOf(request)
    const asked = scope.level === 'project' && key !== undefined ? { ...scope, key } : scope
    await runInInstallation('authentication', () =>
      authorize(
        { auth, scope: asked, method: route.method },
        {
          ...given,
          project: caller.project_id || given.project,
          browser: { ...given.browser, is_recheck: true },
        },
      ),
    )
  }
}

function firstValue(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value
}
