import { problem } from '../../src/kernel/problem.ts'
import {
  createHttpServer,
  frontPageRoute,
  type HttpServer,
  openapiRoute,
  type RawRoute,
  type Route,
} from '../../src/platform/http/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { routeCatalogue } from '../../src/roles/catalogues.ts'

/** The routes of every role, without `/` and `/openapi.json`. */
export const servedCatalogue = routeCatalogue().filter(
  ({ url }) => !['/', '/openapi.json'].includes(url),
)

/** Creates a server of these routes, `/` and `/openapi.json`; all credentials are invalid. */
export async function createDescribedServer(served: (Route | RawRoute)[]): Promise<HttpServer> {
  const routes = [...served]
  routes.push(openapiRoute(() => routes, '1.2.3'))
  routes.push(frontPageRoute(() => routes, '1.2.3'))
  return createHttpServer({
    routes,
    authorize: async () => {
      throw problem('credentials_invalid')
    },
    idempotency: {
      claim: async () => ({ state: 'new' }),
      keep: async () => undefined,
      release: async () => undefined,
    },
    logger: createLogger({ role: 'test', level: 'silent' }),
    metrics: createMetrics(),
    clock: { now_ms: () => Date.now() },
    body_bytes_max: 1000,
    header_bytes_max: 8192,
    rate_per_minute_max: 0,
    request_timeout_ms: 5000,
    keep_alive_ms: 1000,
    check_replies: true,
  })
}
