import { once } from 'node:events'
import { connect } from 'node:net'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TaskPage } from '../../src/capabilities/storage/index.ts'
import { type TaskDeps, taskRoutes } from '../../src/capabilities/tasks/index.ts'
import { createHttpServer, type HttpServer } from '../../src/platform/http/index.ts'
import { createMetrics } from '../../src/platform/telemetry/index.ts'
import { eventually } from '../support/eventually.ts'
import { openTestStore, type TestStore } from '../support/observation-store.ts'
import { testPostgres } from '../support/postgres.ts'
import { authorize, keyOf, now_ms, openTaskApi, type TaskApi } from '../support/task-api.ts'

let stores: TestStore
let api: TaskApi
beforeAll(async () => {
  const [url, opened] = await Promise.all([testPostgres(), openTestStore()])
  stores = opened
  api = await openTaskApi({ url, store: stores.store })
  await api.seedTask({ task_id: 'slow' })
})
afterAll(async () => {
  await api?.[Symbol.asyncDispose]()
  await stores?.close()
})

/** A store that reads a task for as long as its caller waits. */
function slowStore(onRead: (signal: AbortSignal | undefined) => void): TaskDeps['store'] {
  const wait = async ({ signal }: TaskPage) => {
    onRead(signal)
    await once(signal ?? new AbortController().signal, 'abort')
    signal?.throwIfAborted()
    return []
  }
  return { ...stores.store, taskObservations: (_project, _task, page) => wait(page) }
}

test.each(['timeline', 'tool-calls'])(
  'a client that leaves a slow %s stops its read, and is no error of the server',
  async (name) => {
    const reads: (AbortSignal | undefined)[] = []
    const lines: string[] = []
    const metrics = createMetrics()
    const logger = pino({ level: 'warn' }, { write: (line) => lines.push(line) })
    const store = slowStore((signal) => reads.push(signal))
    const server: HttpServer = await createHttpServer({
      routes: taskRoutes({
        ...{ db: api.db, store, clock: { now_ms: () => now_ms } },
      }),
      ...{ authorize, logger, metrics, clock: { now_ms: () => now_ms } },
      idempotency: {
        claim: async () => ({ state: 'new' }),
        keep: async () => undefined,
        release: async () => undefined,
      },
      ...{ body_bytes_max: 100_000, header_bytes_max: 16_384, rate_per_minute_max: 0 },
      ...{ request_timeout_ms: 5_000, keep_alive_ms: 1_000 },
    })
    const port = await server.listen({ host: '127.0.0.1', port: 0 })
    const socket = connect(port, '127.0.0.1')
    const path = `/api/v1/tasks/slow/${name}`
    const key = keyOf(api.project_id)['x-api-key']
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n\r\n`)
    await eventually('the read', () => reads.length === 1)
    socket.destroy()
    const left = '{tag="tasks",status="499"} 1'
    await eventually('the status', async () => (await metrics.expose()).body.includes(left))
    expect(reads[0]?.aborted).toBe(true)
    expect((await metrics.expose()).body).not.toContain('status="500"')
    await server.close()
    expect(lines).toEqual([])
  },
)
