import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { CallRoute } from './route.ts'

/** Headers that say who calls, from where, and with which program. Cookies are not among them. */
const headersOfClient = [
  ...['authorization', 'x-api-key', 'x-project-id', 'user-agent'],
  ...['x-forwarded-for', 'x-forwarded-proto'],
]

/** Creates the calls of other routes for a request. They end when the client leaves. */
export function createCallRoute(
  app: FastifyInstance,
  request: FastifyRequest,
  signal: AbortSignal,
): CallRoute {
  const { project_id } = request.query as { project_id?: string }
  const headers: Record<string, string | string[]> = {}
  if (project_id !== undefined) headers['x-project-id'] = project_id
  for (const name of headersOfClient) {
    const value = request.headers[name]
    if (value !== undefined) headers[name] = value
  }
  const remoteAddress = request.raw.socket.remoteAddress
  return async ({ method, path, body }) => {
    const reply = await app.inject({
      method,
      url: path,
      signal,
      ...(remoteAddress !== undefined && { remoteAddress }),
      headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { payload: JSON.stringify(body) }),
    })
    return { status: reply.statusCode, body: parsed(reply.payload) }
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
