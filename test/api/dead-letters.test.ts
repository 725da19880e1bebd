import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deadLetterRoutes } from '../../src/capabilities/ledger/dead-letters/index.ts'
import { problem } from '../../src/kernel/problem.ts'
import { projectRoles } from '../../src/kernel/scopes.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { type Authorize, createHttpServer, type HttpServer } from '../../src/platform/http/index.ts'
import { openSqliteQueue, type Queue } from '../../src/platform/queue/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { eventually } from '../support/eventually.ts'
import { consumeOptions, message } from '../support/queues.ts'
import { tokenOf } from '../support/task-api.ts'

const list = '/api/v2/observability/dead-letters'
const logger = createLogger({ role: 'test', level: 'silent' })
let directory: string
let queue: Queue
let server: HttpServer

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'looptrace-dead-'))
  queue = await openSqliteQueue({ path: join(directory, 'q'), bytes_max: 1e8, logger })
  server = await serve(queue)
})
afterAll(async () => {
  await server.close()
  await queue.close()
  await rm(directory, { recursive: true, force: true })
})

/** Grants the permissions of a token's role; keys are refused, because the routes accept none. */
const authorize: Authorize = async ({ auth, scope }, { authorization, project }) => {
  if (auth !== 'jwt' || scope.level !== 'project') throw new Error('expected jwt and a project')
  if (authorization === undefined) throw problem('credentials_missing')
  const role = projectRoles.findIndex((name) => authorization === `Bearer ${name}`)
  if (role < projectRoles.indexOf(scope.role)) throw problem('permission_denied')
  if (project === undefined) throw problem('project_required')
  return { kind: 'user', id: 'user-1', project_id: project }
}

function serve(over: Queue): Promise<HttpServer> {
  return createHttpServer({
    routes: deadLetterRoutes({ queue: over }),
    authorize,
    idempotency: {
      claim: async () => ({ state: 'new' }),
      keep: async () => undefined,
      release: async () => undefined,
    },
    logger,
    metrics: createMetrics(),
    clock: systemClock,
    body_bytes_max: 100_000,
    header_bytes_max: 16_384,
    rate_per_minute_max: 0,
    request_timeout_ms: 5000,
    keep_alive_ms: 1000,
    check_replies: true,
  })
}

async function call(
  method: 'GET' | 'POST',
  url: string,
  about: { project_id: string; role?: string; on?: HttpServer },
) {
  const headers = tokenOf(about.role ?? 'admin', about.project_id)
  const reply = await (about.on ?? server).inject({ method, url, headers })
  return { status: reply.statusCode, body: reply.json() }
}

/** Publishes messages of a project and dead-letters each of them. */
async function buried(
  project_id: string,
  ids: readonly string[],
  into: Queue = queue,
): Promise<void> {
  const consumer = await into.consume(consumeOptions, async (batch) => {
    for (const delivery of batch) await delivery.bury(`because of ${delivery.id}`)
  })
  for (const id of ids) {
    await into.publish(message(id, 'twelve bytes', `ingest.${project_id}`))
    await eventually('it is dead-lettered', async () => (await into.stats()).pending === 0)
  }
  await consumer.stop()
}

test('are listed for their project only, page by page', async () => {
  const [project_id, other] = [randomUUID(), randomUUID()]
  const ids = ['a', 'b', 'c'].map((id) => `${id}-${project_id}`)
  await buried(project_id, ids)
  await buried(other, [`x-${other}`])
  const about = { project_id, role: 'viewer' }
  const first = await call('GET', `${list}?limit=2`, about)
  expect(first).toMatchObject({
    status: 200,
    body: {
      dead_letters: [
        {
          dead_letter_id: ids[0],
          kind: 'ingest',
          reason: `because of ${ids[0]}`,
          attempts: 1,
          bytes: 12,
        },
        { dead_letter_id: ids[1] },
      ],
    },
  })
  const cursor = first.body.next_cursor
  const next = await call('GET', `${list}?limit=2&cursor=${cursor}`, about)
  expect(next.body).toMatchObject({ dead_letters: [{ dead_letter_id: ids[2] }], next_cursor: null })
  expect((await call('GET', list, { project_id: randomUUID() })).body).toEqual({
    dead_letters: [],
    next_cursor: null,
  })
})

test.each(['limit=0', 'limit=501', 'limit=x', 'colour=red'])('%s is refused', async (query) => {
  const reply = await call('GET', `${list}?${query}`, { project_id: randomUUID() })
  expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
})

test.each(['x', Buffer.from('["dead-letters","1; drop"]').toString('base64url')])(
  'the cursor %s is refused',
  async (cursor) => {
    const reply = await call('GET', `${list}?cursor=${cursor}`, { project_id: randomUUID() })
    expect(reply).toMatchObject({ status: 400, body: { code: 'invalid_cursor' } })
  },
)

test('an admin replays one; others cannot, and not one of another project', async () => {
  const project_id = randomUUID()
  const id = `r-${project_id}`
  await buried(project_id, [id])
  const url = `${list}/${id}/replay`
  expect(await call('POST', url, { project_id, role: 'editor' })).toMatchObject({ status: 403 })
  expect(await call('POST', url, { project_id: randomUUID() })).toMatchObject({
    status: 404,
    body: { code: 'dead_letter_not_found' },
  })
  expect(await call('POST', url, { project_id })).toEqual({
    status: 202,
    body: { dead_letter_id: id, state: 'queued' },
  })
  expect((await queue.stats()).pending).toBe(1)
  expect(await call('POST', url, { project_id })).toMatchObject({ status: 404 })
})

test('an unavailable queue answers 503', async () => {
  const closed = await openSqliteQueue({ path: join(directory, 'c'), bytes_max: 1e8, logger })
  await closed.close()
  const on = await serve(closed)
  const project_id = randomUUID()
  const replies = [
    await call('GET', list, { project_id, on }),
    await call('POST', `${list}/x/replay`, { project_id, on }),
  ]
  await on.close()
  for (const reply of replies) {
    expect(reply).toMatchObject({ status: 503, body: { code: 'store_unavailable' } })
  }
})

test('the command line lists and replays those of a stopped service', async () => {
  const data = join(directory, 'data')
  const path = join(data, 'queue', 'queue.sqlite')
  const project_id = randomUUID()
  const open = () => openSqliteQueue({ path, bytes_max: 1e8, logger })
  const first = await open()
  await buried(project_id, ['a', 'b', 'c'], first)
  await first.close()
  const letter = { project_id, dead_letter_id: 'a', kind: 'ingest', reason: 'because of a' }
  const listed = await command(data, 'list')
  expect(listed).toMatchObject({ status: 0, lines: [letter, {}, {}] })
  expect(await command(data, 'replay', 'b')).toEqual({
    status: 0,
    lines: [{ dead_letter_id: 'b', state: 'queued' }],
  })
  expect(await command(data, 'replay', 'b')).toMatchObject({ status: 1 })
  expect(await command(data, 'replay', '--all')).toMatchObject({
    status: 0,
    lines: [{ dead_letter_id: 'a' }, { dead_letter_id: 'c' }],
  })
  expect(await command(data, 'replay')).toMatchObject({ status: 2 })
  const last = await open()
  expect(await last.stats()).toMatchObject({ pending: 3, dead: 0 })
  await last.close()
}, 120_000)

const run = promisify(execFile)

/** Runs `dead-letters` on the data of a service; its lines are JSON. */
async function command(data: string, ...words: string[]) {
  const env = { ...process.env, LOOPTRACE_DATA_DIRECTORY: data }
  const args = ['src/main.ts', 'dead-letters', ...words]
  const ended = await run(process.execPath, args, { env }).then(
    ({ stdout }) => ({ status: 0, stdout }),
    ({ code, stdout }: { code: number; stdout: string }) => ({ status: code, stdout }),
  )
  const lines = ended.stdout.split('\n').filter((line) => line !== '')
  return { status: ended.status, lines: lines.map((line) => JSON.parse(line)) }
}
