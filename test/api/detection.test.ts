import { afterAll, beforeAll, expect, test } from 'vitest'
import { taskRoutes } from '../../src/capabilities/tasks/index.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { createHttpServer, type HttpServer } from '../../src/platform/http/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { agentRun } from '../corpus/agent-run.ts'
import { type DetectionBench, openDetectionBench } from '../support/detection.ts'
import { authorize, keyOf } from '../support/task-api.ts'

let bench: DetectionBench
let server: HttpServer
beforeAll(async () => {
  bench = await openDetectionBench()
  server = await serve(bench)
})
afterAll(async () => {
  await server?.close()
  await bench?.[Symbol.asyncDispose]()
})

/** A task that asks the same of a tool again and again. */
function loop(project_id: string, task_id: string, times = 3) {
  return agentRun(`${project_id} ${task_id}`, { project_id, task_id, tools: ['look'] })
    .user('Where is the order?')
    .times(times, (run) => run.tool({ name: 'look', args: { id: 7 } }, 'nothing there'))
    .assistant('I still look.')
}

test('a task that asks the same three times has a finding within 5 s', async () => {
  const project = await bench.newProject()
  bench.startWorker()

  await bench.bring(loop(project, 'looping').observations())
  await bench.untilDetected()

  const reply = await get(project, '/looping/loops')
  expect(reply.status).toBe(200)
  expect(reply.body).toMatchObject({ total: 1, loops: [{ type: 'repeat_call', state: 'open' }] })
})

async function get(project_id: string, path: string) {
  const url = `/api/v1/tasks${path}`
  const reply = await server.inject({ method: 'GET', url, headers: keyOf(project_id) })
  return { status: reply.statusCode, body: reply.json() }
}

function serve({ db, store }: DetectionBench): Promise<HttpServer> {
  return createHttpServer({
    routes: taskRoutes({
      db,
      store,
      clock: systemClock,
      settings: { stalled_after_ms: 1_800_000 },
    }),
    authorize,
    idempotency: {
      claim: async () => ({ state: 'new' }),
      keep: async () => undefined,
      release: async () => undefined,
    },
    logger: createLogger({ role: 'test', level: 'silent' }),
    metrics: createMetrics(),
    clock: systemClock,
    body_bytes_max: 100_000,
    header_bytes_max: 16_384,
    rate_per_minute_max: 0,
    request_timeout_ms: 30_000,
    keep_alive_ms: 1_000,
    check_replies: true,
  })
}
