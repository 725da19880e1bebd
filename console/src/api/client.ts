import createFetchClient, { type Middleware } from 'openapi-fetch'
import createClient from 'openapi-react-query'
import { Problem } from './problem.ts'
import type { paths } from './schema.gen.d.ts'
import { noteServerDate } from './server-clock.ts'

let project_id: string | undefined

/** Sets the project of all later calls. The frame calls it for the project of the URL. */
export function setProject(id: string | undefined): void {
  project_id = id
}

/** Returns the project of calls, for requests that the client does not send, such as downloads. */
export function currentProject(): string | undefined {
  return project_id
}

/** The header of a page of this server, which pages of other sites cannot send. */
export const fromThisPage = { header: { 'X-Looptrace-CSRF': '1' } } as const

const callHeaders: Middleware = {
  onRequest({ request }) {
    if (project_id !== undefined && !request.headers.has('x-project-id')) {
      request.headers.set('x-project-id', project_id)
    }
    request.headers.set('x-looptrace-csrf', '1')
    return request
  },
  async onResponse({ response }) {
    noteServerDate(response.headers.get('date'), Date.now())
    if (response.ok) return undefined
    throw await Problem.from(response)
  },
  onError({ error }) {
    return error instanceof Problem ? error : Problem.unreachable(error)
  },
}

/** Calls the API with the cookie of the session: `await call.GET('/api/v1/tasks', …)`. */
export const call = createFetchClient<paths>({ baseUrl: window.location.origin })
call.use(callHeaders)

/** The same calls as hooks: `api.useQuery('get', '/api/v1/tasks', …)`. */
export const api = createClient(call)
