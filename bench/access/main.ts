import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  accessRoutes,
  authorizer,
  bootstrap,
  createPasswordHasher,
  openAccess,
} from '../../src/capabilities/access/index.ts'
import { systemClock } from '../../src/kernel/time.ts'
import { createHttpServer } from '../../src/platform/http/index.ts'
import {
  type AccessTables,
  migrateRelational,
  openIdempotencyStore,
  openRelational,
  startEmbeddedPostgres,
} from '../../src/platform/relational/index.ts'
import { createLogger, createMetrics } from '../../src/platform/telemetry/index.ts'
import { allTenants } from '../../test/support/all-tenants.ts'
import { compareTimes, tableOf } from './compare-times.ts'

/**
 * `npm run bench:access [batches]`: whether the time of a check tells something about a key. Batches
 * of calls with a valid key, a wrong first or last character and an unknown prefix take turns in a
 * random order, in the process and over HTTP. A p value below 0.01 between wrong keys of one prefix
 * would be a leak: the secret could be found character by character.
 */
const batches = Number(process.argv[2] ?? 400)
const callsOfBatch = 500

const logger = createLogger({ role: 'bench', level: 'silent' })
const directory = await mkdtemp(join(tmpdir(), 'looptrace-bench-access-'))
// Under root, PostgreSQL runs as another user, who needs access to this folder.
await chmod(directory, 0o711)
const postgres = await startEmbeddedPostgres({ directory: join(directory, 'postgres'), logger })
await migrateRelational({ url: postgres.url, logger })
const relational = openRelational<AccessTables>({
  scope: allTenants,
  url: postgres.url,
  pool_max: 4,
  connect_timeout_ms: 5_000,
  statement_timeout_ms: 10_000,
  logger,
})
const { db } = relational
const clock = systemClock
const passwords = createPasswordHasher({ cost_log2: 4 })
const first = await bootstrap({ db, clock, passwords })
if (first === null) throw new Error('the database is not empty')
const access = openAccess({
  db,
  clock,
  logger,
  passwords,
  secret_key: 'a secret of at least 32 characters',
})
const server = await createHttpServer({
  routes: accessRoutes(access),
  authorize: authorizer(access),
  idempotency: openIdempotencyStore(db),
  logger,
  metrics: createMetrics(),
  clock,
  body_bytes_max: 10_000,
  header_bytes_max: 16_384,
  rate_per_minute_max: 0,
  request_timeout_ms: 5_000,
  keep_alive_ms: 60_000,
})
const port = await server.listen({ host: '127.0.0.1', port: 0 })
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
const base = `/api/v2/access/projects/${first.project_id}`

const { token } = JSON.parse(
  await call('POST', '/api/v1/auth/token', {
    grant_type: 'password',
    username: first.admin_email,
    password: first.admin_password,
  }).then((text) => JSON.stringify({ token: JSON.parse(text).access_token })),
)
const expires_at = new Date(Date.now() + 500).toISOString()
const make = async (body: object) =>
  JSON.parse(
    await call(
      'POST',
      `${base}/api-keys`,
      { name: 'k', ...body },
      { authorization: `Bearer ${token}` },
    ),
  )
const [valid, revoked, expired] = [
  await make({ scopes: ['tasks:read'] }),
  await make({}),
  await make({ expires_at }),
]
await call(
  'POST',
  `${base}/api-keys/${revoked.id}/revoke`,
  {},
  { authorization: `Bearer ${token}` },
)
await new Promise((resolve) => setTimeout(resolve, 1_000))

const key = String(valid.key)
const at = key.length - 32
const other = (index: number) => (key[index] === 'x' ? 'y' : 'x')
const wrongFirst = key.slice(0, at) + other(at) + key.slice(at + 1)
const wrongLast = key.slice(0, -1) + other(key.length - 1)
const unknown = `lt_qqqqqqqq_${key.slice(at)}`

const inProcess = await measure(
  {
    'wrong first character': wrongFirst,
    'wrong last character': wrongLast,
    valid: key,
    'unknown prefix': unknown,
  },
  callsOfBatch,
  (text) => access.keys.authenticate(text),
)
const overHttp = await measure(
  {
    'wrong first character': wrongFirst,
    'wrong last character': wrongLast,
    'unknown prefix': unknown,
    revoked: revoked.key,
    expired: expired.key,
  },
  10,
  (text) => call('GET', `${base}/api-keys`, undefined, { 'x-api-key': text }),
)
process.stdout.write(`${tableOf('in the process', compareTimes(inProcess))}\n\n`)
process.stdout.write(`${tableOf('over HTTP', compareTimes(overHttp))}\n`)
agent.destroy()
await server.close()
await access.close()
await relational.close()
await postgres.stop()
await rm(directory, { recursive: true })

/** Returns the mean time of a call in each batch, in nanoseconds. Kinds take turns at random. */
async function measure(
  keys: Record<string, string>,
  calls: number,
  check: (key: string) => unknown,
): Promise<Record<string, number[]>> {
  const times: Record<string, number[]> = Object.fromEntries(
    Object.keys(keys).map((kind) => [kind, []]),
  )
  const warmUp = 20
  for (let batch = -warmUp; batch < batches; batch += 1) {
    const order = Object.entries(keys).map((entry) => ({ entry, at: Math.random() }))
    for (const {
      entry: [kind, text],
    } of order.toSorted((a, b) => a.at - b.at)) {
      const started = process.hrtime.bigint()
      for (let n = 0; n < calls; n += 1) await check(text)
      const took_ns = Number(process.hrtime.bigint() - started) / calls
      if (batch >= 0) times[kind]?.push(took_ns)
    }
  }
  return times
}

function call(
  method: string,
  path: string,
  body?: object,
  headers: Record<string, string> = {},
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const type = body === undefined ? {} : { 'content-type': 'application/json' }
  const sent = request(
    { agent, host: '127.0.0.1', port, method, path, headers: { ...type, ...headers } },
    (answer) => {
      let text = ''
      answer.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      answer.once('end', () => resolve(text))
    },
  )
  sent.once('error', reject)
  sent.end(body === undefined ? undefined : JSON.stringify(body))
  return promise
}
