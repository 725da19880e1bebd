import { createHttpServer, type Route } from '../../src/platform/http/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { authorize, type Reply } from './task-api.ts'

/** Serves routes, with the credentials of `keyOf` and `tokenOf`. */
export type RouteServer = {
  get(url: string, headers: Record<string, string>): Promise<Reply>
  close(): Promise<void>
}

export async function openRouteServer(routes: Route[]): Promise<RouteServer> {
  const server = await createHttpServer({
    routes,
    authorize,
    idempotency: {
      claim: async () => ({ state: 'new' }),
      keep: async () => undefined,
      release: async () => undefined,
    },
    logger: createLogger({ role: 'test', level: 'silent' }),
    metrics: createMetrics(),
    clock: { now_ms: () => Date.now() },
    body_bytes_max: 100_000,
    header_bytes_max: 16_384,
    rate_per_minute_max: 0,
    request_timeout_ms: 5000,
    keep_alive_ms: 1000,
    check_replies: true,
  })
  return {
    get: async (url, headers) => {
      const reply = await server.inject({ method: 'GET', url, headers })
      return { status: reply.statusCode, body: reply.json(), headers: reply.headers }
    },
    close: () => server.close(),
  }
}
