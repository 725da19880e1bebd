import { createHash, generateKeyPairSync } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { type ChainHead, emptyHead, linkRecord } from '../../src/capabilities/audit/chain/record.ts'
import { pruneChains } from '../../src/capabilities/audit/checkpoints/prune-chains.ts'
import { signCheckpoints } from '../../src/capabilities/audit/checkpoints/sign-checkpoints.ts'
import { openSigningKey } from '../../src/capabilities/audit/checkpoints/signing-key.ts'
import { auditChores, openAuditErasure } from '../../src/capabilities/audit/index.ts'
import { sealReads } from '../../src/capabilities/audit/reads/seal-reads.ts'
import { cliCommands } from '../../src/cli/commands.ts'
import { commandOf, runCommand } from '../../src/cli/run-command.ts'
import { problem } from '../../src/kernel/problem.ts'
import { defineRoute } from '../../src/platform/http/index.ts'
import { sql } from '../../src/platform/relational/index.ts'
import { runAsOwner } from '../../src/platform/tenancy/index.ts'
import { type AccessApp, callsAs, type Json, startAccessApp } from '../support/access-app.ts'
import { eventually } from '../support/eventually.ts'

const installation = '00000000-0000-0000-0000-000000000000'
const secret_key = 'a secret of at least 32 characters'
const root = '/api/v2/access'
let app: AccessApp
let owner: string
let keys: string
let erika: string
let second: string

const content = defineRoute({
  method: 'GET',
  url: '/content/{task_id}',
  id: 'readContent',
  summary: 'Answers content',
  audit: 'content',
  auth: 'jwt_or_key',
  scope: { level: 'project', role: 'viewer', key: 'tasks:read' },
  params: z.strictObject({ task_id: z.string() }),
  reply: z.unknown(),
  errors: ['task_not_found'],
  handle: async ({ params }) => {
    if (params.task_id === 'none') throw problem('task_not_found')
    return { text: 'hello' }
  },
})

beforeAll(async () => {
  app = await startAccessApp({ routes: [content] })
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
  keys = `${root}/projects/${app.first.project_id}/api-keys`
  erika = (await app.person('erika@example.com', 'admin')).user_id
  second = (await app.person('second@example.com', 'admin')).user_id
})
afterAll(() => app.close())

const { get, post } = callsAs(() => ({ app, token: owner }))
const db = () => app.relational.db
const recordsOf = (request_id: string) =>
  db().selectFrom('audit_records').selectAll().where('request_id', '=', request_id).execute()
const withId = (id: string) => ({ headers: { 'x-request-id': id } })
const verify = async (chain = 'organization'): Promise<Json> =>
  (await get(`/api/v2/audit/verify?chain=${chain}`)).body
const checkpoint = async () => {
  const clock = app.clock
  const key = await openSigningKey(db(), { secret_key, clock })
  clock.ahead_ms += 2 * 60 * 60 * 1000
  owner = await app.signIn(app.first.admin_email, app.first.admin_password)
  return signCheckpoints(db(), { key, now: new Date(clock.now_ms()) })
}

describe('a change', () => {
  test('has one record with actor, resource, address and masked values', async () => {
    const made = await post(keys, { name: 'ci' }, withId('made-a-key'))
    const records = await recordsOf('made-a-key')
    expect(records).toHaveLength(1)
    expect(records[0]).toMatchObject({
      ...{ chain_id: app.first.organization_id, action: 'createApiKey', outcome: 'succeeded' },
      ...{ actor_kind: 'user', via: 'api', project_id: app.first.project_id, code: null },
      ...{ resource_type: 'access/projects/api-keys', resource_id: made.body.id },
    })
    const { body } = await get('/api/v2/audit/events?action=createApiKey&outcome=succeeded')
    expect(body.events[0]).toMatchObject({
      change: { after: { name: 'ci' } },
      origin: { address: '127.0.0.1' },
    })
    expect(JSON.stringify(body)).not.toContain(made.body.key)
  })

  test('of scopes has the values before it', async () => {
    const { body: key } = await post(keys, { name: 'scoped', scopes: ['tasks:read'] })
    const scopes = ['traces:read']
    await post(`${keys}/${key.id}/scopes`, { scopes }, withId('changed-scopes'))
    const { body } = await get(`/api/v2/audit/events?resource_id=${key.id}&action=setApiKeyScopes`)
    expect(body.events).toHaveLength(1)
    expect(body.events[0].change).toEqual({ before: { scopes: ['tasks:read'] }, after: { scopes } })
  })

  test('that is rolled back has one record, of the refusal', async () => {
    const made = await post(keys, { name: 'x'.repeat(101) }, withId('refused-a-key'))
    expect(made.status).toBe(400)
    expect(await recordsOf('refused-a-key')).toMatchObject([
      { action: 'createApiKey', outcome: 'refused', code: 'invalid_request' },
    ])
  })

  test('that cannot be recorded is rolled back', async () => {
    const before = (await get(keys)).body.total
    await runAsOwner('a test', () =>
      sql`alter table audit_records rename to audit_records_away`.execute(db()),
    )
    const made = await post(keys, { name: 'unrecorded' })
    await runAsOwner('a test', () =>
      sql`alter table audit_records_away rename to audit_records`.execute(db()),
    )
    expect(made.status).toBe(500)
    expect((await get(keys)).body.total).toBe(before)
  })

  test('that is repeated with its Idempotency-Key is recorded as replayed', async () => {
    const headers = { 'idempotency-key': 'once', 'x-request-id': 'first-of-two' }
    await post(keys, { name: 'twice' }, { headers })
    await post(
      keys,
      { name: 'twice' },
      { headers: { ...headers, 'x-request-id': 'second-of-two' } },
    )
    expect(await recordsOf('first-of-two')).toMatchObject([{ outcome: 'succeeded' }])
    expect(await recordsOf('second-of-two')).toMatchObject([{ outcome: 'replayed' }])
  })

  test('of many callers at once keeps the chain without gaps', async () => {
    const made = await Promise.all(
      Array.from({ length: 40 }, (_, at) => post(keys, { name: `key ${at}` })),
    )
    expect(made.every(({ status }) => status === 201)).toBe(true)
    expect(await verify()).toMatchObject({ valid: true, faults: [] })
  })

  test('of a user without an organization is in the chain of the installation', async () => {
    const body = { grant_type: 'password', username: app.first.admin_email, password: 'wrong' }
    await app.call('POST', '/api/v1/auth/token', { body, ...withId('wrong-password') })
    const [record] = await recordsOf('wrong-password')
    expect(record).toMatchObject({ chain_id: installation, outcome: 'refused' })
    expect(record?.change_value).not.toContain('"wrong"')
    const listed = await get('/api/v2/audit/events?chain=installation&action=createToken')
    expect(listed.body.events.length).toBeGreaterThan(0)
    const member = await app.person('nobody@example.com', 'admin')
    const asked = await app.call('GET', '/api/v2/audit/events?chain=installation', {
      token: member.token,
    })
    expect(asked.status).toBe(403)
  })
})

describe('a read of content', () => {
  const read = (id: string, request_id: string) =>
    get(`/content/${id}?project_id=${app.first.project_id}`, withId(request_id))

  const seal = async () => {
    await app.journal.flush()
    return sealReads(db(), app.clock)
  }

  test('by a person is stored and sealed; by a key it is not', async () => {
    await read('t-1', 'read-1')
    await app.call('GET', '/content/t-1', { key: app.first.project_key, ...withId('read-2') })
    const listed = async () => (await get('/api/v2/audit/reads?resource_id=t-1')).body.reads
    const shown = { request_id: 'read-1', action: 'readContent', origin: { address: '127.0.0.1' } }
    await eventually('the read is listed', async () => (await listed()).length === 1)
    expect(await listed()).toMatchObject([{ ...shown, segment_seq: null }])
    await Promise.all(Array.from({ length: 30 }, (_, at) => read('t-2', `many-${at}`)))
    expect(await seal()).toBe(31)
    expect(await listed()).toMatchObject([{ ...shown, segment_seq: expect.any(Number) }])
    expect(await seal()).toBe(0)
    expect(await verify()).toMatchObject({ valid: true })
  })

  test('that was left unsealed is sealed later, and marked', async () => {
    await read('t-3', 'read-3')
    app.clock.ahead_ms += 60_000
    await seal()
    const { body } = await get('/api/v2/audit/events?action=sealReadsLate')
    expect(body.events).toMatchObject([{ segment_count: 1 }])
  })

  test('of an object that is not there is a refused call', async () => {
    await read('none', 'read-none')
    expect(await recordsOf('read-none')).toMatchObject([
      { outcome: 'refused', code: 'task_not_found' },
    ])
    await app.journal.flush()
    const { body } = await get('/api/v2/audit/reads?resource_id=none')
    expect(body.reads).toMatchObject([{ request_id: 'read-none' }])
  })

  test('that cannot be written to the disk is not answered', async () => {
    await app.journal.flush()
    const { journals } = app
    const away = `${journals}-away`
    await rename(journals, away)
    const { status, body, text } = await read('t-4', 'read-4')
    await rename(away, journals)
    expect([status, body.code]).toEqual([503, 'store_unavailable'])
    expect(text).not.toContain('hello')
    expect(app.logged()).toContain('reads of content are refused')
    expect((await read('t-4', 'read-4b')).status).toBe(200)
  })

  test.each([
    ['in the store', true],
    ['on the disk', false],
  ])('of an erased person has no origin, also %s before it is sealed', async (where, isStored) => {
    const reader = await app.person(`reader.${where.at(-1)}@example.com`, 'admin')
    await app.call('GET', `/content/erased-${where}?project_id=${app.first.project_id}`, {
      token: reader.token,
    })
    if (isStored) await app.journal.flush()
    await post('/api/v2/audit/erasures', { user_id: reader.user_id })
    await app.journal.flush()
    const listed = async () => (await get(`/api/v2/audit/reads?resource_id=erased-${where}`)).body
    const erased = { reads: [{ actor_id: reader.user_id, origin: null }] }
    expect(await listed()).toMatchObject(erased)
    await seal()
    expect(await listed()).toMatchObject(erased)
    const rows = await sql`select 1 from audit_reads where actor_id = ${reader.user_id}
      and origin_salt is not null`.execute(db())
    expect(rows.rows).toEqual([])
    expect(await verify()).toMatchObject({ valid: true })
  })

  test('shows a changed and a deleted read', async () => {
    const one = sql`select id from audit_reads where segment_seq is not null order by id limit 1`
    await sql`update audit_reads set actor_id = 'x' where id = (${one})`.execute(db())
    expect((await verify()).valid).toBe(false)
    await sql`update audit_reads set actor_id = (select id::text from users limit 1)
      where actor_id = 'x'`.execute(db())
    expect((await verify()).valid).toBe(true)
  })
})

describe('tampering in the store', () => {
  /** Keeps the tables as they are before each attack, and brings them back after it. */
  beforeEach(async () => {
    await post(keys, { name: 'before' })
    await checkpoint()
  })
  const attack = async (run: () => Promise<unknown>): Promise<Json> => {
    const tables = ['audit_records', 'audit_chains', 'audit_checkpoints']
    for (const table of tables) {
      await runAsOwner('a test', () =>
        sql`create table ${sql.raw(`kept_${table}`)} as table ${sql.raw(table)}`.execute(db()),
      )
    }
    try {
      await run()
      return await verify()
    } finally {
      for (const table of tables) {
        await runAsOwner('a test', () => sql`truncate ${sql.raw(table)}`.execute(db()))
        await runAsOwner('a test', () =>
          sql`insert into ${sql.raw(table)} table ${sql.raw(`kept_${table}`)}`.execute(db()),
        )
        await runAsOwner('a test', () => sql`drop table ${sql.raw(`kept_${table}`)}`.execute(db()))
      }
    }
  }
  const chain = () => app.first.organization_id
  const rewrite = `
    do $$ declare r record; h bytea := decode(repeat('00', 32), 'hex'); begin
      for r in select * from audit_records where chain_id = '%' order by seq loop
        h := sha256(h || r.hash);
        update audit_records set hash = h where chain_id = r.chain_id and seq = r.seq;
      end loop;
      update audit_chains set hash = h where chain_id = '%';
    end $$`

  test.each<[string, () => Promise<unknown>]>([
    [
      'an edited record',
      () =>
        sql`update audit_records set actor_id = 'x' where chain_id = ${chain()} and seq = 2`.execute(
          db(),
        ),
    ],
    [
      'an edited detail',
      () =>
        sql`update audit_records set change_value = '{}'
        where chain_id = ${chain()} and change_value is not null`.execute(db()),
    ],
    [
      'a deleted record',
      () => sql`delete from audit_records where chain_id = ${chain()} and seq = 3`.execute(db()),
    ],
    [
      'a deleted start',
      () => sql`delete from audit_records where chain_id = ${chain()} and seq < 3`.execute(db()),
    ],
    [
      'a deleted start with a forged note of retention',
      async () => {
        await sql`delete from audit_records where chain_id = ${chain()} and seq < 3`.execute(db())
        await sql`update audit_chains set pruned_seq = 2 where chain_id = ${chain()}`.execute(db())
      },
    ],
    [
      'a truncated chain',
      async () => {
        await sql`delete from audit_records where chain_id = ${chain()} and seq > 3`.execute(db())
        await sql`update audit_chains set seq = 3, hash =
          (select hash from audit_records where chain_id = ${chain()} and seq = 3)
          where chain_id = ${chain()}`.execute(db())
      },
    ],
    [
      'a deleted chain',
      async () => {
        await sql`delete from audit_records where chain_id = ${chain()}`.execute(db())
        await sql`delete from audit_chains where chain_id = ${chain()}`.execute(db())
      },
    ],
    [
      'a chain that was written anew',
      () => sql.raw(rewrite.replaceAll('%', chain())).execute(db()),
    ],
    [
      'an edited checkpoint',
      () =>
        sql`update audit_checkpoints set envelope = replace(envelope, '"payload":"ey', '"payload":"e3')
        where chain_id = ${chain()}`.execute(db()),
    ],
  ])('shows %s', async (_name, run) => {
    expect(await verify()).toMatchObject({ valid: true })
    expect(await attack(run)).toMatchObject({ valid: false })
    expect(await verify()).toMatchObject({ valid: true })
  })
})

test('a second check of a chain at the same time is refused, and not recorded as a fault', async () => {
  const url = '/api/v2/audit/verify'
  const answers = await Promise.all(Array.from({ length: 12 }, () => get(url)))
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]))
  const refused = answers.find(({ status }) => status === 429)
  expect(refused?.body).toMatchObject({ code: 'rate_limited' })
  expect(refused?.headers['retry-after']).toBe('5')
  expect((await get(url)).status).toBe(200)
})

test('filters of events and reads refuse what PostgreSQL cannot compare', async () => {
  for (const query of ['actor_id=%00', 'resource_type=a%00', 'from=0000-01-01T00:00:00Z']) {
    const refused = await get(`/api/v2/audit/events?${query}`)
    expect([query, refused.status, refused.body.code]).toEqual([query, 400, 'invalid_request'])
  }
  expect((await get('/api/v2/audit/reads?resource_id=%00')).status).toBe(400)
})

test('a check from a given record on starts there, and names what it checked', async () => {
  const whole = (await get('/api/v2/audit/verify?after=0')).body
  expect(whole).toMatchObject({ valid: true, next_after: null, from_seq: 1 })
  const rest = (await get('/api/v2/audit/verify?after=4')).body
  expect(rest).toMatchObject({ valid: true, from_seq: 5 })
  expect(rest.records).toBeGreaterThanOrEqual(whole.records - 4)
  const wrong = await get('/api/v2/audit/verify?after=x')
  expect(wrong).toMatchObject({ status: 400, body: { code: 'invalid_request' } })
})

test('records that streams set aside are listed in pages, each chain for itself', async () => {
  const refusal = { status: 403, attempts: 8, refused_at: new Date(), set_aside_at: new Date() }
  const own = { chain_id: app.first.organization_id, ...refusal }
  const rows = [
    { ...own, stream: 'otlp', seq: 1 },
    { ...own, stream: 'webhook', seq: 1 },
    { ...own, stream: 'webhook', seq: 2 },
    { ...own, stream: 'webhook', seq: 3, set_aside_at: null },
    { ...own, stream: 'otlp', seq: 4, chain_id: installation },
  ]
  await db().insertInto('audit_stream_refusals').values(rows).execute()
  const path = '/api/v2/audit/set-aside-records'
  const first = (await get(`${path}?limit=2`)).body
  const second = (await get(`${path}?limit=2&cursor=${first.next_cursor}`)).body
  const listed = [...first.records, ...second.records].map((one) => [one.stream, one.seq])
  expect(listed).toEqual([
    ['webhook', 2],
    ['webhook', 1],
    ['otlp', 1],
  ])
  expect(first.records[0].reason).toBe('the receiver answered 403')
  expect(second.next_cursor).toBeNull()
  expect((await get(`${path}?chain=installation`)).body.records).toHaveLength(1)
  expect((await get(`${path}?cursor=x`)).status).toBe(400)
})

test('an erased person leaves a chain that verifies', async () => {
  const token = await app.signIn('erika@example.com', 'correct horse battery')
  await app.call('POST', keys, { token, body: { name: 'hers' }, ...withId('hers') })
  const { erased } = await verify()
  const { body, status } = await post('/api/v2/audit/erasures', { user_id: erika })
  expect(status).toBe(200)
  // Her key and her acceptance; her acceptance and the invitation.
  expect(body).toEqual({ origins: 2, changes: 2 })
  const left = await db()
    .selectFrom('audit_records')
    .select(['origin_value', 'change_value'])
    .where('chain_id', '=', app.first.organization_id)
    .execute()
  expect(JSON.stringify(left)).not.toContain('erika@example.com')
  expect(await recordsOf('hers')).toMatchObject([{ origin_value: null, origin_salt: null }])
  expect(await verify()).toMatchObject({ valid: true, erased: erased + 4 })
})

test('an erased end user is a whole value of a change, in its own case', async () => {
  const { project_id } = app.first
  const made = async (name: string) => (await post(keys, { name })).body.id
  const hers = await made('ada')
  const others = await Promise.all(['Ada', 'ada b', 'a "ada"', '1', ',', ':'].map(made))
  const scopes = ['tasks:read', 'traces:read']
  await post(`${keys}/${others[0]}/scopes`, { scopes }, withId('nested'))
  const erase = (user_id: string) => openAuditErasure({ db: db() }).eraseUser(erasureOf(user_id))
  const erasureOf = (user_id: string) => ({
    project_id,
    user_id,
    trace_ids: [],
    held_trace_ids: [],
  })
  const kept = async () => {
    const rows = db().selectFrom('audit_records').select('resource_id')
    const named = rows.where('action', '=', 'createApiKey').where('change_value', 'is not', null)
    return (await named.orderBy('seq').execute()).map((row) => row.resource_id)
  }
  const before = await kept()
  expect(before).toEqual(expect.arrayContaining([hers, ...others]))
  for (const part of ['a', 'name', 'after', 'd', '{', '":"', 'ADA']) await erase(part)
  expect(await kept()).toEqual(before)
  await erase('ada')
  expect(await kept()).toEqual(before.filter((id) => id !== hers))
  await erase(',')
  expect(await kept()).toEqual(before.filter((id) => id !== hers && id !== others[4]))
  await erase('traces:read')
  expect(await recordsOf('nested')).toMatchObject([{ change_value: null, change_salt: null }])
  expect(await verify()).toMatchObject({ valid: true })
})

test('nobody erases the origin of their own calls; another administrator does', async () => {
  const user_id = second
  const token = await app.signIn('second@example.com', 'correct horse battery')
  const made = await app.call('POST', keys, { token, body: { name: 'made by the second' } })
  expect(made.status).toBe(201)
  const originsOf = (chain_id: string) =>
    db()
      .selectFrom('audit_records')
      .select('seq')
      .where('chain_id', '=', chain_id)
      .where('actor_id', '=', user_id)
      .where('origin_value', 'is not', null)
      .execute()
  const before = await originsOf(app.first.organization_id)
  expect(before.length).toBeGreaterThan(0)
  for (const own of [user_id, user_id.toUpperCase()]) {
    const erasing = { token, body: { user_id: own } }
    const refused = await app.call('POST', '/api/v2/audit/erasures', erasing)
    expect([refused.status, refused.body.code]).toEqual([403, 'permission_denied'])
    expect(refused.body.detail).toContain('another administrator')
  }
  const url = '/api/v2/audit/erasures?chain=installation'
  expect((await post(url, { user_id: await ownerId() })).status).toBe(403)
  expect((await originsOf(app.first.organization_id)).length).toBe(before.length + 2)
  expect((await post('/api/v2/audit/erasures', { user_id })).body.origins).toBe(before.length + 2)
  expect(await originsOf(app.first.organization_id)).toEqual([])
})

const ownerId = async () => {
  const { admin_email } = app.first
  const found = db().selectFrom('users').select('id').where('email', '=', admin_email)
  return (await found.executeTakeFirstOrThrow()).id
}

test('retention deletes a prefix with a signed statement, and the rest verifies', async () => {
  await post(keys, { name: 'old' })
  await checkpoint()
  app.clock.ahead_ms += 60_000
  await post(keys, { name: 'young' })
  const now = new Date(app.clock.now_ms())
  const key = await openSigningKey(db(), { secret_key, clock: app.clock })
  const { signal } = new AbortController()
  const deleted = await pruneChains(db(), {
    key,
    now,
    before: now,
    hasSinks: false,
    streams: [],
    signal,
  })
  expect(deleted).toBeGreaterThan(10)
  const report = await verify()
  expect(report).toMatchObject({ valid: true })
  expect(report.records).toBeLessThan(10)
  expect(report.pruned_seq).toBe(report.from_seq - 1)
  await checkpoint()
  expect(await verify()).toMatchObject({ valid: true })
})

describe('looptrace audit verify', () => {
  let folder: string
  let lines: string[]
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'looptrace-audit-'))
    await post(keys, { name: 'exported' })
    await post(keys, { name: 'two\u2028lines\u2029or\u0085more' })
    await get(`/content/exported?project_id=${app.first.project_id}`)
    await app.journal.flush()
    await sealReads(db(), app.clock)
    await checkpoint()
    const exported = await get('/api/v2/audit/export')
    expect(exported).toMatchObject({ status: 200 })
    lines = exported.text.trimEnd().split('\n')
    await writeFile(join(folder, 'jwks.json'), (await get('/api/v2/audit/keys')).text)
    await mkdir(join(folder, 'checkpoints'))
    const { body } = await get('/api/v2/audit/checkpoints?limit=1000')
    for (const [at, { envelope }] of body.checkpoints.entries()) {
      await writeFile(join(folder, 'checkpoints', `${at}.json`), JSON.stringify(envelope))
    }
  })
  afterAll(() => rm(folder, { recursive: true }))

  const run = async (
    given: readonly string[],
    { path = '-', checkpoints = join(folder, 'checkpoints'), more = [] as string[] } = {},
  ) => {
    const options = ['--checkpoints', checkpoints, ...more]
    const words = ['audit', 'verify', path, ...options, '--keys', join(folder, 'jwks.json')]
    const found = commandOf(cliCommands, words)
    let out = ''
    const print = (text: string) => {
      out += text
    }
    const status = await runCommand(found?.command ?? never(), found?.args ?? [], {
      ...{ out: print, err: print, styled: (_style, text) => text },
      ...{ columns: () => undefined, time_zone: 'UTC' },
      ...{ stdin: async () => given.join('\n'), now_ms: () => app.clock.now_ms() },
      stop: new AbortController().signal,
    })
    return { status, out }
  }

  test('accepts an export of the whole chain', async () => {
    const { status, out } = await run(lines)
    expect(out).toMatch(/valid\n$/)
    expect(status).toBe(0)
  })

  test('reads a file whose texts have other line ends, and the export escapes them', async () => {
    const path = join(folder, 'records.ndjson')
    expect(lines.join()).not.toMatch(/[\u0085\u2028\u2029]/)
    // An older version exported them as they are.
    const raw = lines.map((line) => JSON.stringify(JSON.parse(line)))
    expect(raw.join()).toMatch(/two\u2028lines\u2029or\u0085more/)
    for (const text of [lines.join('\n'), raw.join('\n'), `${raw.join('\r\n')}\r\n`]) {
      await writeFile(path, text)
      const { status, out } = await run([], { path })
      expect(out).toMatch(/\bvalid\n$/)
      expect(status).toBe(0)
    }
  })

  describe('proves nothing', () => {
    /** Rewrites the records from a number on, as somebody without the signing key can. */
    const rewritten = (from: number) => {
      let head: ChainHead = emptyHead
      return lines.map((line) => {
        const record = JSON.parse(line)
        const linked = record.seq < from ? record : linkRecord({ ...record, action: 'x' }, head)
        head = { seq: linked.seq, hash: linked.hash }
        return JSON.stringify({ ...record, ...linked })
      })
    }
    let first_seq: number
    const folderWith = async (keep: (checkpoint: { seq: number; chain_id: string }) => boolean) => {
      const place = await mkdtemp(join(folder, 'some-'))
      for (const name of await readdir(join(folder, 'checkpoints'))) {
        const text = await readFile(join(folder, 'checkpoints', name), 'utf8')
        const payload = JSON.parse(Buffer.from(JSON.parse(text).payload, 'base64').toString())
        if (keep(payload)) await writeFile(join(place, name), text)
      }
      return place
    }
    beforeAll(async () => {
      const { seq } = JSON.parse(lines[0] ?? '')
      const { body } = await get(`/api/v2/audit/checkpoints?from_seq=${seq}&limit=1`)
      first_seq = body.checkpoints[0].seq
    })

    test('without a checkpoint, or with those of another chain', async () => {
      const none = await folderWith(() => false)
      const other = await mkdtemp(join(folder, 'other-'))
      const { body } = await get('/api/v2/audit/checkpoints?chain=installation&limit=1000')
      for (const [at, { envelope }] of body.checkpoints.entries()) {
        await writeFile(join(other, `${at}.json`), JSON.stringify(envelope))
      }
      for (const checkpoints of [none, other]) {
        const { status, out } = await run(rewritten(1), { checkpoints })
        expect(out).toMatch(/no checkpoint of this chain/)
        expect(out).not.toMatch(/\bvalid\n$/)
        expect(status).toBe(1)
        const any = await run(rewritten(1), { checkpoints, more: ['--max-unprotected', '99999'] })
        expect(any.status).toBe(1)
      }
      expect(body.checkpoints.length).toBeGreaterThan(0)
    })

    test('about records after the newest checkpoint, unless some may be unprotected', async () => {
      const checkpoints = await folderWith(({ seq }) => seq <= first_seq)
      const forged = rewritten(first_seq + 1)
      const open = JSON.parse(forged.at(-1) ?? '').seq - first_seq
      expect(open).toBeGreaterThan(1)
      const { status, out } = await run(forged, { checkpoints })
      expect(out).toMatch(/newest checkpoint: record \d+, signed 2\d{3}-.*Z \(.* ago\)/)
      expect(out).toMatch(new RegExp(`${open} records after the newest checkpoint`))
      expect(out).toMatch(/not proven/)
      expect(status).toBe(1)
      const less = ['--max-unprotected', String(open - 1)]
      expect((await run(forged, { checkpoints, more: less })).status).toBe(1)
      const enough = ['--max-unprotected', String(open)]
      expect(await run(forged, { checkpoints, more: enough })).toMatchObject({
        out: expect.stringMatching(/\bvalid\n$/),
        status: 0,
      })
      for (const wrong of ['-1', 'many', '1.5']) {
        expect((await run(forged, { more: [`--max-unprotected=${wrong}`] })).status).toBe(2)
      }
    })
  })

  test.each<[string, (all: string[]) => string[]]>([
    [
      'an edited actor',
      (all) => all.map((line, at) => (at === 1 ? line.replace('"user"', '"key"') : line)),
    ],
    ['a missing record', (all) => all.toSpliced(1, 1)],
    ['a missing start', (all) => all.slice(1)],
    ['a missing end', (all) => all.slice(0, -1)],
    ['a repeated record', (all) => all.toSpliced(1, 0, all[0] ?? '')],
  ])('shows %s', async (_name, change) => {
    const { status, out } = await run(change(lines))
    expect(out).toContain('not valid')
    expect(status).toBe(1)
  })

  test.each<[string, (line: string) => string]>([
    ['a field that no hash protects', (line) => line.replace('{', '{"actor_name":"eve",')],
    ['a repeated field', (line) => line.replace('{', '{"action":"deleteProject",')],
    ['a list instead of a text', (line) => line.replace(/"action":("[^"]*")/, '"action":[$1]')],
  ])('does not accept %s', async (_name, change) => {
    const { status, out } = await run([...lines.slice(0, -1), change(lines.at(-1) ?? '')])
    expect(out).toContain(`line ${lines.length}: expected a line of GET /api/v2/audit/export`)
    expect(status).toBe(2)
  })

  test('does not accept reads of a record that seals none', async () => {
    const at = lines.findIndex((line) => !line.includes('"reads"'))
    const reads = lines.map((line) => JSON.parse(line).reads).find((all) => all !== undefined)
    const forged = JSON.stringify({ ...JSON.parse(lines[at] ?? ''), reads })
    const { status, out } = await run(lines.toSpliced(at, 1, forged))
    expect(out).toContain('the record seals no reads')
    expect(status).toBe(1)
  })

  test('does not accept another address of a read', async () => {
    const at = lines.findIndex((line) => line.includes('"reads"'))
    const record = JSON.parse(lines[at] ?? '')
    const [read] = record.reads
    read.details.origin = { salt: '', value: '{"address":"192.0.2.9"}' }
    const { status, out } = await run(lines.toSpliced(at, 1, JSON.stringify(record)))
    expect(out).toContain('the origin of a read does not match its hash')
    expect(status).toBe(1)
  })

  test('refuses other keys, other lines and a missing folder', async () => {
    expect((await run(['{"a":1}'])).status).toBe(2)
    const { publicKey } = generateKeyPairSync('ed25519')
    await writeFile(join(folder, 'jwks.json'), publicKey.export({ format: 'pem', type: 'spki' }))
    expect((await run(lines)).status).toBe(2)
  })
})

function never(): never {
  throw new Error('there is no such command')
}

test('checkpoints reach every sink, also after one was unavailable', async () => {
  await post(keys, { name: 'to publish' })
  await checkpoint()
  const published = new Map<string, string>()
  let isAway = true
  const [, sign] = auditChores({
    ...{ db: db(), clock: app.clock, secret_key, kept_days: 0, streams: [] },
    checkpoint_poll_ms: 1_000,
    sinks: [
      async ({ name, envelope }) => {
        if (isAway) throw new Error('away')
        published.set(name, envelope)
      },
    ],
  })
  const { signal } = new AbortController()
  await expect(sign?.run(signal)).rejects.toThrow('away')
  isAway = false
  await sign?.run(signal)
  const waiting = await db()
    .selectFrom('audit_checkpoints')
    .select('seq')
    .where('published_at', 'is', null)
    .execute()
  expect(waiting).toEqual([])
  const [name = ''] = published.keys()
  expect(name).toMatch(/^[0-9a-f-]{36}\/\d{16}-(head|pruned)\.json$/)
  expect(
    createHash('sha256')
      .update(published.get(name) ?? '')
      .digest('hex'),
  ).toHaveLength(64)
})
