import { createServer, type Server } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import {
  type CompletionProxy,
  createProxy,
  defaultProxySettings,
  type ProjectKey,
  type ProjectKeys,
  type ProxyDependencies,
  type ProxySettings,
} from '../../src/capabilities/edge/proxy/index.ts'
import { problem } from '../../src/kernel/problem.ts'
import { type Clock, systemClock } from '../../src/kernel/time.ts'
import type { Exchange, ExchangeFacts } from '../../src/model/exchange.ts'
import { createLogger, createMetrics, type Metrics } from '../../src/platform/telemetry/index.ts'
import { eventually } from './eventually.ts'

export const projectId = '01900000-0000-7000-8000-000000000001'

/** Keys that the test proxy knows. Looking up `lt_away` fails; `lt_slow` takes a moment. */
const keys = new Map<string, ProjectKey>([
  ['lt_valid', keyOf('key-1', ['proxy:write'])],
  ['lt_slow', keyOf('key-1', ['proxy:write'])],
  ['lt_provider_key', keyOf('key-4', ['proxy:write', 'proxy:provider_key'])],
  [
    'lt_account',
    {
      ...keyOf('key-5', ['proxy:write', 'proxy:provider_key']),
      service_account_id: '01900000-0000-7000-8000-00000000000a',
    },
  ],
  ['lt_reader', keyOf('key-2', ['tasks:read'])],
  ['lt_archived', { ...keyOf('key-3', ['proxy:write']), is_archived: true }],
])

function keyOf(
  key_id: string,
  scopes: ProjectKey['scopes'] extends ReadonlySet<infer S> ? S[] : never,
) {
  return { key_id, project_id: projectId, scopes: new Set(scopes), environment: 'test' }
}

const projectKeys: ProjectKeys = {
  authenticate(key) {
    if (key === 'lt_away') throw problem('store_unavailable', { retry_after_s: 1 })
    if (key === 'lt_slow') return new Promise((resolve) => setImmediate(resolve, keys.get(key)))
    return keys.get(key)
  },
}

/** Headers that every accepted call needs. */
export const goodHeaders = {
  'x-api-key': 'lt_valid',
  authorization: 'Bearer provider-secret',
} as const

export type TestProxy = AsyncDisposable & {
  proxy: CompletionProxy
  server: Server
  url: string
  chat: string
  metrics: Metrics
  exchanges: Exchange[]
  /** The facts of call number `index`, once it is recorded. */
  recorded(index?: number): Promise<Exchange>
}

export type TestProxyOptions = {
  base_urls?: ProxyDependencies['base_urls']
  providers_file?: ProxyDependencies['providers_file']
  outbound?: ProxyDependencies['outbound']
  settings?: Partial<ProxySettings>
  clock?: Clock
  recorder?: ProxyDependencies['recorder']
  /** Keys instead of those of this file. */
  keys?: ProjectKeys
  logger?: ProxyDependencies['logger']
}

/** A proxy on a separate server; its records are kept. */
export async function testProxy(options: TestProxyOptions = {}): Promise<TestProxy> {
  const exchanges: Exchange[] = []
  const metrics = createMetrics()
  const proxy = createProxy({
    keys: options.keys ?? projectKeys,
    recorder: options.recorder ?? keepingRecorder(exchanges),
    ...(options.base_urls && { base_urls: options.base_urls }),
    providers_file: options.providers_file,
    outbound: options.outbound,
    settings: { ...defaultProxySettings, ...options.settings },
    clock: options.clock ?? systemClock,
    metrics,
    logger: options.logger ?? createLogger({ role: 'test', level: 'silent' }),
  })
  const server = createServer({ noDelay: true }, (request, response) => {
    const legacy = request.url?.startsWith('/v1/completions')
    proxy.handle(request, response, {
      endpoint: legacy ? 'completions' : 'chat.completions',
    })
  })
  server.on('clientError', (error, socket) => proxy.onClientError(error, socket as Socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    proxy,
    server,
    url,
    chat: `${url}/v1/chat/completions`,
    metrics,
    exchanges,
    recorded: (index = 0) => eventually(`record ${index}`, () => exchanges[index]),
    [Symbol.asyncDispose]: async () => {
      server.close()
      server.closeAllConnections()
      await proxy.close()
    },
  }
}

/** A recorder that keeps records in memory. An answer waits for its record, as for a journal. */
function keepingRecorder(exchanges: Exchange[]): ProxyDependencies['recorder'] {
  return {
    prepare: () => undefined,
    record: (exchange, written) => {
      exchanges.push(exchange)
      setImmediate(written)
    },
  }
}

/** The facts about the end of a call. */
export function endingOf({ facts }: Exchange): Partial<ExchangeFacts> {
  const { outcome, status_code, error_type } = facts
  return { outcome, status_code, error_type }
}
