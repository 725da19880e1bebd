import {
  type OnboardingDb,
  type OnboardingRoutesDeps,
  onboardingRoutes,
  ScenarioRuns,
} from '../../src/capabilities/onboarding/index.ts'
import { openClickHouseLedgerStore } from '../../src/capabilities/storage/index.ts'
import { Semaphore } from '../../src/kernel/semaphore.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { createHttpServer } from '../../src/platform/http/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { type DetectionBench, openDetectionBench } from './detection.ts'
import { authorize, tokenOf } from './task-api.ts'
import type { Json } from './verification-api.ts'

type OnboardingReply = { status: number; body: Json; headers: Record<string, unknown> }

/** The routes of onboarding on a server, over both stores. No worker runs. */
export type OnboardingApi = AsyncDisposable & {
  bench: DetectionBench
  db: OnboardingDb
  deps: OnboardingRoutesDeps
  /** The time of the routes; a test may move it. */
  clock: { ahead_ms: number; now_ms(): number }
  /** `path` is relative to `/api/v1/onboarding`. An editor calls by default. */
  call(
    method: 'GET' | 'POST' | 'DELETE',
    path: string,
    about: { project_id: string; headers?: Record<string, string>; body?: unknown },
  ): Promise<OnboardingReply>
}

const logger = createLogger({ role: 'test', level: 'silent' })

/** Opens the routes. `play` takes the place of the proxy; by default it never ends. */
export async function openOnboardingApi(
  change: Partial<OnboardingRoutesDeps> = {},
): Promise<OnboardingApi> {
  const bench = await openDetectionBench()
  const db = bench.db as unknown as OnboardingDb
  const clock = { ahead_ms: 0, now_ms: () => systemClock.now_ms() + clock.ahead_ms }
  const runs = new ScenarioRuns()
  const deps: OnboardingRoutesDeps = {
    ...{ db, clock, logger, columnar: bench.columnar, archives_configured: true, runs },
    ledger: openClickHouseLedgerStore({ columnar: bench.columnar }),
    rules: { db, clock, incident_rules_max: 5 } as unknown as OnboardingRoutesDeps['rules'],
    verification: {} as OnboardingRoutesDeps['verification'],
    retention: { db, clock } as unknown as OnboardingRoutesDeps['retention'],
    scans: new Semaphore({ permits_max: 4 }),
    slots: new Semaphore({ permits_max: 100 }),
    play: ({ signal }) =>
      new Promise((_, reject) => {
        signal.throwIfAborted()
        signal.addEventListener('abort', () => reject(signal.reason), { once: true })
      }),
    ...change,
  }
  const server = await createHttpServer({
    routes: onboardingRoutes(deps),
    ...{ authorize, logger, metrics: createMetrics(), clock: systemClock },
    idempotency: {
      claim: async () => ({ state: 'new' }),
      keep: async () => undefined,
      release: async () => undefined,
    },
    body_bytes_max: 1_000_000,
    header_bytes_max: 16_384,
    rate_per_minute_max: 0,
    request_timeout_ms: 30_000,
    keep_alive_ms: 1_000,
    check_replies: true,
  })
  return {
    ...{ bench, db, deps, clock },
    call: async (method, path, { project_id, headers, body }) => {
      const reply = await server.inject({
        ...{ method, url: `/api/v1/onboarding${path}` },
        headers: headers ?? tokenOf('editor', project_id),
        ...(body !== undefined && { payload: body as object }),
      })
      const text = reply.body
      return {
        status: reply.statusCode,
        body: text === '' ? undefined : reply.json(),
        headers: reply.headers,
      }
    },
    [Symbol.asyncDispose]: async () => {
      await runs.stop()
      await server.close()
      await bench[Symbol.asyncDispose]()
    },
  }
}
