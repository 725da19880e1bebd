import { expect, test } from 'vitest'
import { z } from 'zod'
import { createProxyMeters } from '../src/capabilities/edge/proxy/call/meters.ts'
import { ledgerMeters } from '../src/capabilities/ledger/index.ts'
import { createHttpServer, defineRoute } from '../src/platform/http/index.ts'
import { createLogger, createMetrics } from '../src/platform/telemetry/index.ts'
import { metricCatalogue } from '../src/roles/catalogues.ts'

/** Labels, and the most values that each has in one process. No client can add a value. */
const labels: Readonly<Record<string, number>> = {
  ...{ action: 10, by: 5, change: 5, class: 5, code: 20, controller: 10, detector: 40 },
  ...{ encoding: 4, endpoint: 40, error_type: 60, event: 20, how: 5, kind: 30, method: 8 },
  ...{ moved: 3, name: 10, outcome: 60, path: 5, provider: 50, ready: 3, reason: 100 },
  ...{ resource: 20, result: 10, severity: 5, side: 2, signal: 5, state: 10, status: 40 },
  ...{ store: 2, stream: 10, tag: 20, transport: 3, type: 10, verdict: 6, warning: 30, why: 10 },
  // The first 20 projects of a process.
  project: 21,
}

test('each label of a metric has a known maximum of values', async () => {
  const unknown = (await metricCatalogue()).flatMap(({ name, labels: of }) =>
    of.filter((label) => labels[label] === undefined).map((label) => `${name} ${label}`),
  )
  expect(unknown).toEqual([])
})

/** A process of role `all` shows about 560 lines before its first call. */
test('calls of many routes, providers and projects add at most 440 lines', async () => {
  const metrics = createMetrics()
  const idle = (await metrics.expose()).body.split('\n').length
  const proxy = createProxyMeters(metrics, () => 0)
  for (const endpoint of ['chat.completions', 'responses', 'messages', 'embeddings'] as const) {
    for (const provider of ['openai', 'anthropic', 'gemini', '']) {
      const call = { endpoint, provider, duration_s: 1, first_byte_s: 0.1 }
      for (const outcome of ['complete', 'client_gone'] as const) {
        proxy.ended({ ...call, outcome, error_type: '' })
      }
      for (const error_type of ['429', '500', 'upstream_timeout']) {
        proxy.ended({ ...call, outcome: 'provider_error', error_type })
      }
    }
  }
  const ledger = ledgerMeters(metrics)
  for (let at = 0; at < 5_000; at += 1) {
    const item = { project_id: `project-${at}`, path: 'otlp' as const, reason: '' }
    for (const outcome of ['accepted', 'stored'] as const) ledger.count({ ...item, outcome }, 1)
    ledger.count({ ...item, path: 'proxy', outcome: 'accepted' }, 1)
  }
  await callAllTags(metrics)
  const { body } = await metrics.expose()
  expect(body.split('\n').length - idle).toBeLessThanOrEqual(440)
})

const tags = [
  ...['access', 'alerts', 'audit', 'auth', 'conversations', 'detection', 'events', 'feedback'],
  ...['observability', 'onboarding', 'reliability', 'tasks', 'verification'],
]

/** Calls routes of every tag, which answer with several statuses. */
async function callAllTags(metrics: ReturnType<typeof createMetrics>): Promise<void> {
  const routes = tags.flatMap((tag) =>
    Array.from({ length: 20 }, (_, at) =>
      defineRoute({
        ...{ method: 'GET', url: `/api/v1/${tag}/r${at}`, id: `${tag}${at}`, summary: 'A route' },
        ...{ auth: 'public', scope: { level: 'public' }, errors: [], reply: z.object() },
        query: z.strictObject({ n: z.coerce.number().optional() }),
        handle: async () => ({}),
      }),
    ),
  )
  const server = await createHttpServer({
    ...{ routes, metrics, logger: createLogger({ role: 'test', level: 'silent' }) },
    authorize: () => Promise.reject(new Error('unused')),
    idempotency: {
      claim: async () => ({ state: 'new' }),
      keep: async () => undefined,
      release: async () => undefined,
    },
    clock: { now_ms: () => Date.now() },
    ...{ body_bytes_max: 1_000, header_bytes_max: 8_192, request_timeout_ms: 5_000 },
    ...{ keep_alive_ms: 1_000, rate_per_minute_max: 0 },
  })
  for (const { url } of routes) {
    for (const query of ['', '?n=1', '?n=x']) await server.inject(url + query)
  }
  await server.close()
}
