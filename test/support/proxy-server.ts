import { proxyRoutes } from '../../src/capabilities/edge/proxy/index.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { createHttpServer, type RawRoute, type Route } from '../../src/platform/http/index.ts'
import { createLogger } from '../../src/platform/telemetry/index.ts'
import { type TestProxy, type TestProxyOptions, testProxy } from './proxy.ts'

/** A proxy behind the routes of its role; `origin` is the address of that server. */
export type ProxyServer = TestProxy & { origin: string }

/** Starts a proxy with its routes on the HTTP platform, as role `proxy` serves them. */
export async function proxyServer(
  options: TestProxyOptions & { routes?: readonly (RawRoute | Route)[] } = {},
): Promise<ProxyServer> {
  const proxy = await testProxy(options)
  const server = await createHttpServer({
    routes: [...proxyRoutes(proxy.proxy), ...(options.routes ?? [])],
    authorize: async () => {
      throw new Error('no route asks')
    },
    idempotency: {
      claim: async () => ({ state: 'new' }),
      keep: async () => undefined,
      release: async () => undefined,
    },
    logger: options.logger ?? createLogger({ role: 'test', level: 'silent' }),
    metrics: proxy.metrics,
    clock: systemClock,
    body_bytes_max: 1_000_000,
    header_bytes_max: 16_384,
    rate_per_minute_max: 0,
    request_timeout_ms: 5_000,
    keep_alive_ms: 1_000,
    onClientError: (error, socket) => proxy.proxy.onClientError(error, socket),
  })
  const port = await server.listen({ host: '127.0.0.1', port: 0 })
  return {
    ...proxy,
    origin: `http://127.0.0.1:${port}`,
    [Symbol.asyncDispose]: async () => {
      await proxy[Symbol.asyncDispose]()
      await server.close()
    },
  }
}
