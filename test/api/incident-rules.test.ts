import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newId } from '../../src/kernel/ids.ts'
import { type IncidentApi, type Json, openIncidentApi } from '../support/incident-api.ts'
import { keyOf, operatorOf, tokenOf } from '../support/task-api.ts'

let api: IncidentApi
let project: string
beforeAll(async () => {
  api = await openIncidentApi()
})
beforeAll(async () => {
  project = await api.newProject()
})
afterAll(() => api?.[Symbol.asyncDispose]())

let names = 0
const ruleOf = (change: object = {}) => ({
  name: `rule-${++names}`,
  condition: { signal: 'ttft_p95', window: '10m', threshold: 4000, min_samples: 30 },
  severity: 'high',
  ...change,
})

async function created(change: object = {}, project_id = project): Promise<Json> {
  const reply = await api.call('POST', '/rules', project_id, { body: ruleOf(change) })
  expect([reply.status, reply.body.code]).toEqual([201, undefined])
  return reply.body
}

const codeOf = ({ status, body }: { status: number; body: Json }) => [status, body?.code]

describe('rules', () => {
  test('are created with all defaults, read and listed', async () => {
    const body = ruleOf({ group_by: ['model'] })
    const reply = await api.call('POST', '/rules', project, { body })
    expect([reply.status, reply.headers['etag']]).toEqual([201, '"1"'])
    expect(reply.body).toMatchObject({
      ...{ name: body.name, kind: 'condition', version: 1, managed_by: null },
      ...{ interval: '1m', delay: '1m', mode: 'live', suspend: false, group_by: ['model'] },
      ...{ updated_by: 'user:user-1', effective_selector: {} },
      evaluation: {
        ...{ rule_version: 0, last_slot: null, evaluated_at: null, groups: 0, overflow: 0 },
        ...{ open_incidents: 0, firing: false, healthy: true, partial: false, lag_ms: 0 },
        ...{ gap: null, last_error: null, last_opened_at: null },
      },
    })
    const one = await api.call('GET', `/rules/${reply.body.rule_id}`, project)
    expect([one.status, one.headers['etag'], one.body]).toEqual([
      200,
      expect.stringMatching(/^"1-/),
      reply.body,
    ])
    const list = await api.call('GET', `/rules?name=${body.name}`, project)
    expect(list.body).toEqual({ rules: [reply.body], total: 1, next_cursor: null })
  })

  test('are listed newest first, in pages, by kind and by name', async () => {
    const other = await api.newProject()
    const burn_rate = { signal: 'failure_rate', objective: 0.95, preset: 'standard' }
    const made = [
      await created({}, other),
      await created({ condition: undefined, burn_rate }, other),
      await created({}, other),
    ].map(({ name }) => name)
    const page = await api.call('GET', '/rules?limit=2', other)
    expect(page.body.rules.map((rule: Json) => rule.name)).toEqual([made[2], made[1]])
    expect(page.body.total).toBe(3)
    const { next_cursor } = page.body
    const rest = await api.call('GET', `/rules?limit=2&cursor=${next_cursor}`, other)
    expect(rest.body.rules.map((rule: Json) => rule.name)).toEqual([made[0]])
    const burns = await api.call('GET', '/rules?kind=burn_rate', other)
    expect(burns.body.rules.map((rule: Json) => rule.name)).toEqual([made[1]])
    const foreign = await api.call('GET', `/rules?kind=event&cursor=${next_cursor}`, other)
    expect(codeOf(foreign)).toEqual([400, 'invalid_cursor'])
  })

  test('that can never fire are refused with the arithmetic', async () => {
    const tiers = [{ factor: 25, long: '1h', short: '5m' }]
    const burn_rate = { signal: 'failure_rate', objective: 0.95, tiers }
    const body = ruleOf({ condition: undefined, burn_rate })
    const reply = await api.call('POST', '/rules', project, { body })
    expect(codeOf(reply)).toEqual([400, 'invalid_request'])
    expect(reply.body.errors).toEqual([
      {
        pointer: '/burn_rate/tiers/0/factor',
        detail: expect.stringContaining('25 × (1 − 0.95) = 1.25'),
      },
    ])
  })

  test('with text that PostgreSQL cannot store are refused, and hostile text is data', async () => {
    for (const title of ['a\u0000b', 'half \ud83d']) {
      const body = ruleOf({ annotations: { title } })
      const reply = await api.call('POST', '/rules', project, { body })
      expect(codeOf(reply)).toEqual([400, 'invalid_request'])
      expect(reply.body.errors[0].pointer).toBe('/annotations/title')
    }
    const annotations = { title: `'; drop table incidents; -- <script>{{group.x}}` }
    expect((await created({ annotations })).annotations).toEqual(annotations)
  })

  test('annotations are bounded together, because each message has a copy', async () => {
    const annotationsOf = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, n) => [`a${n}`, 'x'.repeat(4000)]))
    await created({ annotations: annotationsOf(4) })
    const body = ruleOf({ annotations: annotationsOf(5) })
    const reply = await api.call('POST', '/rules', project, { body })
    expect(codeOf(reply)).toEqual([400, 'invalid_request'])
    expect(reply.text).toContain('got 20000 characters together, expected at most 16000')
  })

  test('show the tiers of a preset that are evaluated, and those that never can', async () => {
    const burn_rate = { signal: 'failure_rate', objective: 0.9, preset: 'standard' }
    const rule = await created({ condition: undefined, burn_rate })
    expect(rule.effective_tiers.map((tier: Json) => tier.factor)).toEqual([6, 3, 1])
    expect(rule.left_out_tiers).toEqual([
      {
        tier: { factor: 14.4, long: '1h', short: '5m' },
        reason: expect.stringContaining('14.4 × (1 − 0.9) = 1.44'),
      },
    ])
  })

  test('warn about channels, rules and people that do not exist', async () => {
    const other = await api.newProject()
    await api.newMember(other, 'in@example.com')
    await api.newMember(other, 'out@example.com', 'none')
    const escalation = [{ after: '5m', notify: ['pager'] }]
    const inhibited_by = [{ rule: 'gone', equal: ['model'] }]
    const condition = { signal: 'feedback_negative_rate', window: '10m', threshold: 0.5 }
    const change = { condition, group_by: ['model'], notify: ['chat'], escalation, inhibited_by }
    const warned = await created({ ...change, assign_to: 'out@example.com' }, other)
    expect(warned.warnings).toEqual([
      expect.stringContaining('`chat`'),
      expect.stringContaining('`pager`'),
      expect.stringContaining('`gone`'),
      expect.stringContaining('out@example.com'),
    ])
    const unknown = await created({ assign_to: 'unknown@example.com', notify: ['chat'] }, other)
    // The warning is the same for an account that does not exist.
    expect(unknown.warnings[1].replace('unknown@', 'out@')).toBe(warned.warnings[3])
    await insertChannel(other, 'chat')
    const quiet = await created({ assign_to: 'in@example.com', notify: ['chat'] }, other)
    expect(quiet.warnings).toEqual([])
    const typo = { source: 'finding', types: ['repeat_cal'] }
    const odd = { name: 'odd-type', severity: 'high', mode: 'shadow', event: { match: typo } }
    const { body: oddly } = await api.call('POST', '/rules', project, { body: odd })
    expect(oddly.warnings).toEqual([expect.stringContaining('no detector finds `repeat_cal`')])
    const again = await api.call('GET', `/rules/${unknown.rule_id}`, other)
    expect(again.body.warnings).toHaveLength(1)
  })

  test('that inhibit each other are refused with the path', async () => {
    const other = await api.newProject()
    const by = (rule: string) => ({
      group_by: ['model'],
      inhibited_by: [{ rule, equal: ['model'] }],
    })
    await created({ name: 'a', ...by('b') }, other)
    await created({ name: 'b', ...by('c') }, other)
    const body = ruleOf({ name: 'c', ...by('a') })
    const reply = await api.call('POST', '/rules', other, { body })
    expect(codeOf(reply)).toEqual([400, 'invalid_request'])
    expect(reply.body.errors[0].pointer).toBe('/inhibited_by')
    expect(reply.body.detail).toMatch(/c → a → b → c|a → b → c → a|b → c → a → b/)
    const c = await created({ name: 'c' }, other)
    const put = await api.call('PUT', `/rules/${c.rule_id}`, other, { body })
    expect(codeOf(put)).toEqual([400, 'invalid_request'])
  })

  test('that inhibit each other are refused also under concurrent calls', async () => {
    for (let round = 0; round < 5; round += 1) {
      const other = await api.newProject()
      const post = (name: string, rule: string) =>
        api.call('POST', '/rules', other, {
          body: ruleOf({ name, group_by: ['model'], inhibited_by: [{ rule, equal: ['model'] }] }),
        })
      const replies = await Promise.all([post('a', 'b'), post('b', 'a')])
      expect(replies.map(({ status }) => status).toSorted()).toEqual([201, 400])
    }
  })

  test('have unique names, and a maximum per project, also under concurrent calls', async () => {
    const other = await api.newProject()
    const { name } = await created({}, other)
    const taken = await api.call('POST', '/rules', other, { body: ruleOf({ name }) })
    expect(codeOf(taken)).toEqual([409, 'name_taken'])
    const replies = await Promise.all(
      Array.from({ length: 24 }, () => api.call('POST', '/rules', other, { body: ruleOf() })),
    )
    const codes = replies.map(({ status, body }) => body.code ?? status)
    expect(codes.filter((code) => code === 201)).toHaveLength(19)
    expect(codes.filter((code) => code === 'limit_reached')).toHaveLength(5)
  })

  test('are created once per Idempotency-Key', async () => {
    const body = ruleOf()
    const headers = { ...tokenOf('admin', project), 'idempotency-key': newId() }
    const [first, again] = [
      await api.call('POST', '/rules', project, { body, headers }),
      await api.call('POST', '/rules', project, { body, headers }),
    ]
    expect([first.status, again.status]).toEqual([201, 201])
    expect(again.body).toEqual(first.body)
  })

  test('are replaced by the version that was read; the same body changes nothing', async () => {
    const { rule_id, name } = await created()
    const put = (etag: string, change: object) =>
      api.call('PUT', `/rules/${rule_id}`, project, {
        body: ruleOf({ name, ...change }),
        if_match: etag,
      })
    const same = await put('"1"', {})
    expect([same.status, same.headers['etag']]).toEqual([200, '"1"'])
    const changed = await put('"1"', { for: '5m' })
    expect([changed.status, changed.headers['etag'], changed.body.for]).toEqual([200, '"2"', '5m'])
    const stale = await put('"1"', { for: '6m' })
    expect(codeOf(stale)).toEqual([412, 'precondition_failed'])
    const other = await created()
    const taken = await put('"2"', { name: other.name })
    expect(codeOf(taken)).toEqual([409, 'name_taken'])
    const renamed = await put('*', { name: `${name}-new` })
    expect([renamed.status, renamed.body.name]).toEqual([200, `${name}-new`])
  })

  test('are replaced once by concurrent calls with the same version', async () => {
    const { rule_id, name } = await created()
    const replies = await Promise.all(
      ['1m', '2m', '3m'].map((wait) =>
        api.call('PUT', `/rules/${rule_id}`, project, {
          body: ruleOf({ name, for: wait }),
          if_match: '"1"',
        }),
      ),
    )
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, 412, 412])
  })

  test('are deleted by the version that was read', async () => {
    const { rule_id } = await created()
    const stale = await api.call('DELETE', `/rules/${rule_id}`, project, { if_match: '"7"' })
    expect(codeOf(stale)).toEqual([412, 'precondition_failed'])
    const gone = await api.call('DELETE', `/rules/${rule_id}`, project, { if_match: '"1"' })
    expect(gone.status).toBe(204)
    const missing = await api.call('GET', `/rules/${rule_id}`, project)
    expect(codeOf(missing)).toEqual([404, 'incident_rule_not_found'])
  })

  test('show their evaluation and their unresolved incidents', async () => {
    const other = await api.newProject()
    const { rule_id, name } = await created({ group_by: ['model'] }, other)
    await api.db
      .insertInto('rule_evaluations')
      .values({
        ...{ rule_id, project_id: other, rule_version: 1, groups: 2, overflow: 3, partial: true },
        ...{ last_slot: '2026-11-23T11:58:00.000Z', evaluated_at: '2026-11-23T11:59:01.000Z' },
        ...{ gap_from: '2026-11-23T10:00:00.000Z', gap_to: '2026-11-23T10:05:00.000Z' },
        ...{ lag_ms: 90_000, failures: 2, last_error: 'the store timed out' },
      })
      .execute()
    const state = { ...{ rule_id, project_id: other, group_key: '{"model":"m"}' }, state: '{}' }
    await api.db
      .insertInto('rule_states')
      .values({ ...state, firing: true })
      .execute()
    await api.insertIncident(other, { core: { rules: ['another', name] } })
    await api.insertIncident(other, { core: { rules: [name] }, orphaned: true })
    const last_opened_at = '2026-11-23T11:30:00.000Z'
    await api.insertIncident(other, {
      rule_name: name,
      state: 'resolved',
      opened_at: last_opened_at,
    })
    await api.insertIncident(other, {
      rule_name: name,
      state: 'resolved',
      opened_at: '2026-11-22T11:30:00.000Z',
    })
    // Another project has a rule of this name.
    await api.insertIncident(project, { rule_name: name, state: 'resolved' })
    const { body } = await api.call('GET', `/rules/${rule_id}`, other)
    expect(body.evaluation).toEqual({
      ...{ rule_version: 1, last_slot: '2026-11-23T11:58:00.000Z', groups: 2, overflow: 3 },
      ...{ evaluated_at: '2026-11-23T11:59:01.000Z', open_incidents: 2, firing: true },
      last_opened_at,
      ...{ healthy: false, partial: true, lag_ms: 90_000, last_error: 'the store timed out' },
      gap: { from: '2026-11-23T10:00:00.000Z', to: '2026-11-23T10:05:00.000Z' },
    })
    const list = await api.call('GET', '/rules', other)
    expect(list.body.rules).toEqual([body])
  })
})

describe('incidents of a rule that ends', () => {
  async function firing(project_id: string) {
    const { rule_id, name } = await created({}, project_id)
    const state = { ...{ rule_id, project_id, group_key: '{}' }, state: '{}', firing: true }
    await api.db.insertInto('rule_states').values(state).execute()
    const contributors = [{ rule: name, group: '{}' }]
    const id = await api.insertIncident(project_id, { core: { rules: [name], contributors } })
    const isOrphaned = async () => {
      const { orphaned, state } = await api.db
        .selectFrom('incidents')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      const states = await api.db
        .selectFrom('rule_states')
        .selectAll()
        .where('rule_id', '=', rule_id)
        .execute()
      expect(state).toBe('open')
      expect(states).toHaveLength(orphaned ? 0 : 1)
      return orphaned
    }
    return { path: `/rules/${rule_id}`, name, isOrphaned }
  }

  test('are not orphaned by a PUT of the same rule', async () => {
    const { path, name, isOrphaned } = await firing(project)
    await api.call('PUT', path, project, { body: ruleOf({ name }) })
    expect(await isOrphaned()).toBe(false)
  })

  test.each([
    ['edited', { for: '5m' }],
    ['suspended', { suspend: true }],
    ['renamed', { name: 'n' }],
  ])('are orphaned when it is %s', async (_what, change) => {
    const { path, name, isOrphaned } = await firing(project)
    const body = ruleOf({ name, ...change })
    expect((await api.call('PUT', path, project, { body })).status).toBe(200)
    expect(await isOrphaned()).toBe(true)
  })

  test('are orphaned when it is deleted', async () => {
    const { path, isOrphaned } = await firing(project)
    expect((await api.call('DELETE', path, project)).status).toBe(204)
    expect(await isOrphaned()).toBe(true)
  })
})

describe('neighbours and roles', () => {
  test('a rule of another project does not exist', async () => {
    const { rule_id } = await created()
    const other = await api.newProject()
    const calls = [
      await api.call('GET', `/rules/${rule_id}`, other),
      await api.call('PUT', `/rules/${rule_id}`, other, { body: ruleOf() }),
      await api.call('DELETE', `/rules/${rule_id}`, other),
      await api.call('GET', '/rules/1', other),
      await api.call('GET', `/rules/${"x'--"}`, other),
    ]
    for (const call of calls) expect(codeOf(call)).toEqual([404, 'incident_rule_not_found'])
    const list = await api.call('GET', '/rules', other)
    expect(list.body).toEqual({ rules: [], total: 0, next_cursor: null })
    expect((await api.call('GET', `/rules/${rule_id}`, project)).status).toBe(200)
  })

  test('viewers and keys with `incidents:read` read; only admins write', async () => {
    const body = ruleOf()
    const read = (headers: Record<string, string>) =>
      api.call('GET', '/rules', project, { headers })
    const write = (headers: Record<string, string>) =>
      api.call('POST', '/rules', project, { headers, body })
    expect((await read(tokenOf('viewer', project))).status).toBe(200)
    expect((await read(keyOf(project, 'incidents:read'))).status).toBe(200)
    expect(codeOf(await read(keyOf(project, 'incidents:write')))).toEqual([
      403,
      'permission_denied',
    ])
    expect(codeOf(await write(tokenOf('editor', project)))).toEqual([403, 'permission_denied'])
    const key = keyOf(project, 'incidents:read incidents:write')
    expect((await write(key)).status).toBe(401)
  })
})

describe('rules of resources', () => {
  const owner = (name: string, namespace = 'team-a') => ({
    ...{ kind: 'IncidentRule', namespace, name, uid: 'u-1' },
    installation: '11111111-1111-4111-8111-111111111111',
  })
  const nameOf = ({ kind, namespace, name, installation }: ReturnType<typeof owner>) =>
    `${kind}/${namespace}/${name}/${installation}`
  const post = (managed_by: object | undefined, change: object = {}) =>
    api.call('POST', '/rules', project, {
      headers: operatorOf(project),
      body: ruleOf({ managed_by, ...change }),
    })

  test('are declared once, found by their resource, and changed only for it', async () => {
    const mine = owner('slow')
    const plain = ruleOf()
    const body = { ...plain, managed_by: mine }
    const first = await post(mine, body)
    expect([first.status, first.body.managed_by]).toEqual([201, mine])
    const again = await post(mine, body)
    expect([again.status, again.body]).toEqual([200, first.body])
    const url = `/rules?managed_by=${nameOf(mine)}`
    const found = await api.call('GET', url, project, { headers: operatorOf(project) })
    expect(found.body.rules).toEqual([first.body])
    const path = `/rules/${first.body.rule_id}`
    const byPerson = await api.call('PUT', path, project, { body: { ...plain, for: '9m' } })
    expect(codeOf(byPerson)).toEqual([409, 'managed_by_kubernetes'])
    const suspended = await api.call('PUT', path, project, { body: { ...plain, suspend: true } })
    expect(codeOf(suspended)).toEqual([409, 'managed_by_kubernetes'])
    expect(codeOf(await api.call('DELETE', path, project))).toEqual([409, 'managed_by_kubernetes'])
    const headers = operatorOf(project)
    const other = { ...body, managed_by: owner('slow', 'team-b') }
    const byOther = await api.call('PUT', path, project, { headers, body: other })
    expect(codeOf(byOther)).toEqual([409, 'managed_by_kubernetes'])
    const changed = { ...body, for: '9m' }
    const byOwner = await api.call('PUT', path, project, {
      headers,
      body: changed,
      if_match: '"1"',
    })
    expect([byOwner.status, byOwner.body.for]).toEqual([200, '9m'])
    const wrong = `${path}?managed_by=${nameOf(owner('other'))}`
    const removed = await api.call('DELETE', wrong, project, { headers })
    expect(codeOf(removed)).toEqual([409, 'managed_by_kubernetes'])
    const kept = `${path}?managed_by=${nameOf(mine)}&retain=true`
    expect((await api.call('DELETE', kept, project, { headers })).status).toBe(204)
    expect((await api.call('GET', path, project)).body.managed_by).toBe(null)
    const stranger = `${path}?managed_by=${nameOf(mine)}`
    expect(codeOf(await api.call('DELETE', stranger, project, { headers }))).toEqual([
      403,
      'permission_denied',
    ])
  })

  test('a name in use shows its owner only to the same namespace', async () => {
    const { body } = await post(owner('taken'))
    const mine = await post(owner('second'), { name: body.name })
    expect(codeOf(mine)).toEqual([409, 'name_taken'])
    expect(mine.body.detail).toContain('IncidentRule team-a/taken')
    const other = await post(owner('second', 'team-b'), { name: body.name })
    expect(codeOf(other)).toEqual([409, 'name_taken'])
    expect(other.text).not.toContain('team-a')
  })

  test('an operator names a resource, and others cannot', async () => {
    expect(codeOf(await post(undefined))).toEqual([400, 'invalid_request'])
    const body = ruleOf({ managed_by: owner('x') })
    const byPerson = await api.call('POST', '/rules', project, { body })
    expect(codeOf(byPerson)).toEqual([400, 'invalid_request'])
  })
})

async function insertChannel(project_id: string, name: string): Promise<void> {
  const at = '2026-11-23T11:00:00.000Z'
  await api.db
    .insertInto('notification_channels')
    .values({
      ...{ id: newId(), project_id, name, type: 'webhook', config: '{}', secrets: '{}' },
      ...{ version: 1, created_at: at, updated_at: at, updated_by: 'user:1' },
    })
    .execute()
}
