import { newId } from '../../../src/kernel/ids.ts'
import { eventually } from '../eventually.ts'
import { type Must, marker, v2 } from './marker.ts'
import { seedIncidents } from './victim-incidents.ts'
import type { Json, Who, World } from './world.ts'

/** The tenant whose data nobody else may see or change. */
export type Victim = {
  owner: Who & { token: string; project_id: string }
  user_id: string
  organization_id: string
  /** Its ids by the name of the path parameter; `job_id` by the path of its list. */
  ids: Readonly<Record<string, string>>
}

/** Fills the first project with one object of each kind, by the API as far as it can. */
export async function seedVictim(world: World, receiver_url: string): Promise<Victim> {
  const { admin, project_id } = world
  const token = await signIn(world, admin)
  const owner = { token, project_id }
  const must: Must = async (method, path, body) => {
    const reply = await world.call(method, path, { ...owner, body })
    if (reply.status < 300) return reply.body
    throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`)
  }
  const access = await seedAccess(must, world)
  const records = await seedRecords(must)
  const ids = {
    ...{ ...access, ...records, project_id, dead_letter_id: world.dead_letter_id },
    ...(await seedKnowledge(must, records)),
    ...(await seedFeedback(must, records.task_id)),
    ...(await seedCertification(must)),
    ...(await seedQueries(must)),
    ...(await seedIncidents(must, world, receiver_url)),
    ...(await seedLifecycle(must, world)),
    ...(await seedScenario(world)),
  }
  return { owner, user_id: access.user_id, organization_id: access.organization_id, ids }
}

/** Signs in with a password and returns an access token. */
export async function signIn(
  world: World,
  { email, password }: { email: string; password: string },
): Promise<string> {
  const body = { grant_type: 'password', username: email, password }
  const reply = await world.call('POST', '/api/v1/auth/token', { body })
  if (reply.status !== 200) throw new Error(`no sign-in of ${email}: ${reply.text}`)
  return reply.body.access_token
}

/** Accepts an invitation as a person who has no account yet. */
export async function acceptInvitation(
  world: World,
  token: string,
  display_name: string,
): Promise<{ user_id: string; token: string }> {
  const body = { token, display_name, password: 'correct horse battery' }
  const reply = await world.call('POST', '/api/v1/auth/invitations/accept', { body })
  if (reply.status !== 201) throw new Error(`${display_name} accepts nothing: ${reply.text}`)
  return { user_id: reply.body.user_id, token: reply.body.tokens.access_token }
}

async function seedAccess(must: Must, world: World) {
  const { project_id } = world
  const [{ id: organization_id }] = (await must('GET', '/api/v2/access/organizations'))
    .organizations
  const organization = `/api/v2/access/organizations/${organization_id}`
  const project = `/api/v2/access/projects/${project_id}`
  await must('PUT', organization, { name: `${marker} organization`, key_scopes: null })
  await must('PUT', `${project}/settings`, { name: `${marker}-project`, key_scopes: null })
  const member = await must('POST', `${organization}/members`, {
    ...{ email: `${marker}-member@example.com`, role: 'member' },
    projects: [{ project_id, role: 'viewer' }],
  })
  const { user_id: member_user_id } = await acceptInvitation(world, member.token, marker)
  const invited = { email: `${marker}-invited@example.com`, role: 'member' }
  const invitation = await must('POST', `${organization}/members`, invited)
  await must('POST', `${organization}/members`, { ...invited, email: `${marker}-2@example.com` })
  const key = await must('POST', `${project}/api-keys`, { name: `${marker}-key` })
  const accounts = '/api/v2/access/service-accounts'
  const account = await must('POST', accounts, { name: `${marker}-robot`, scopes: ['tasks:read'] })
  await must('POST', accounts, { name: `${marker}-robot-2`, scopes: ['tasks:read'] })
  await must('POST', `${accounts}/${account.id}/keys`, { name: `${marker}-robot-key` })
  const { operator_keys } = await must('GET', '/api/v2/access/operator-keys')
  const { users } = await must('GET', '/api/v2/access/users')
  const user_id = String(users.find((one: Json) => one.email.startsWith('victim-owner')).id)
  return {
    ...{ organization_id: String(organization_id), user_id, member_user_id },
    ...{ invitation_id: invitation.id, api_key_id: key.id, service_account_id: account.id },
    ...{ operator_key_id: operator_keys[0].id, installation_id: newId() },
  }
}

/** Traces of two tasks in one conversation, with findings. */
async function seedRecords(must: Must) {
  const trace_id = newId()
  const conversation_id = newId()
  const [now_ms, task_id] = [Date.now(), `${marker}-task`]
  const at = (seconds_ago: number) => new Date(now_ms - seconds_ago * 1_000).toISOString()
  const traces = [
    { trace_id, task_id },
    { trace_id: newId(), task_id: `${marker}-task-2` },
  ]
  const batch = {
    idempotency_key: `${marker}-batch`,
    traces: traces.map((trace) => ({
      ...{ ...trace, name: `${marker} trace`, conversation_id, user_id: `${marker}-user` },
      ...{ release: `${marker}-release`, environment: `${marker}-environment` },
    })),
    observations: traces.flatMap((trace) =>
      Array.from({ length: 6 }, (_one, n) => ({
        ...{ ...trace, conversation_id, observation_id: `${marker}-${n}` },
        ...{ type: n % 2 === 0 ? 'generation' : 'tool', name: `${marker}_tool` },
        ...{ start_time: at(120 - n * 2), end_time: at(119 - n * 2), model: `${marker}-model` },
        ...{ input: [{ role: 'user', content: `${marker} asks` }], user_id: `${marker}-user` },
        output: `${marker} owes $900.00 since 14 March 2026.`,
      })),
    ),
    events: [0, 1].map((n) => ({
      ...{ trace_id, observation_id: `${marker}-0`, time: at(110 - n), name: `${marker}-event` },
    })),
    links: [0, 1].map((n) => ({
      ...{ trace_id, observation_id: `${marker}-${n}`, linked_trace_id: traces[1]?.trace_id },
    })),
    correlations: [0, 1].map((n) => ({
      ...{ trace_id, correlation_type: 'order_id', correlation_value: `${marker}-${n}` },
    })),
  }
  const { ingest_request_id } = await must('POST', `${v2}/ingest?wait=true`, batch)
  await eventually('the tasks are there', async () => {
    const { tasks } = await must('GET', '/api/v1/tasks')
    return tasks.length === 2
  })
  await must('POST', `/api/v1/tasks/${task_id}/detect`, {})
  return { trace_id, conversation_id, task_id, ingest_request_id: String(ingest_request_id) }
}

async function seedKnowledge(must: Must, { trace_id }: { trace_id: string }) {
  const verification = '/api/v1/verification'
  const document = { format: 'text', content: `${marker} parcels cannot be refunded.` }
  const [first] = await Promise.all(
    [1, 2].map((n) =>
      must('POST', `${verification}/documents`, { ...document, name: `${marker}-${n}.txt` }),
    ),
  )
  const fact = { subject: marker, attribute: 'area', value: 412 }
  await must('POST', `${verification}/facts`, fact)
  await must('POST', `${verification}/facts`, { ...fact, attribute: 'people' })
  const { facts } = await must('GET', `${verification}/facts`)
  const trace = `${verification}/traces/${trace_id}`
  await must('POST', `${trace}/verify`, { async_mode: false })
  await must('POST', `${trace}/verify`, { async_mode: false, force_reverify: true })
  const { runs } = await must('GET', `${trace}/runs`)
  const { claims } = await must('GET', `${trace}/claims`)
  return {
    ...{ document_id: first.document_id, fact_id: facts[0].fact_id },
    ...{ run_id: runs[0].run_id, claim_id: claims[0].claim_id },
  }
}

async function seedFeedback(must: Must, task_id: string) {
  const items = [1, 2].map((n) => ({ thumbs: 'down', comment: marker, user_id: `${marker}-${n}` }))
  const made = await Promise.all(
    items.map((item) => must('POST', `/api/v1/tasks/${task_id}/feedback`, item)),
  )
  await must('POST', `/api/v1/feedback/review/${task_id}/labels`, {
    label: 'incorrect',
  })
  return { feedback_id: String(made[0].feedback_id) }
}

async function seedCertification(must: Must) {
  const phase = '/api/v1/reliability/phase10'
  const gates = [{ metric: 'task_success_rate', kind: 'absolute', threshold: 0.9 }]
  for (const threshold of [0.8, 0.9]) {
    const changed = [{ ...gates[0], threshold }]
    await must('PUT', `${phase}/release-policies/${marker}`, { gates: changed })
    await must('PUT', `${phase}/release-policies/${marker}-2`, { gates: changed })
  }
  const run = (version: string) =>
    must('POST', `${phase}/eval-runs`, {
      ...{ release: { name: marker, version }, environment: marker, format: 'jsonl' },
      content: JSON.stringify({ case_id: `${marker}-${version}`, passed: true }),
    })
  const [evaluated] = await Promise.all([run('1'), run('2')])
  const from = new Date(Date.now() - 3_600_000).toISOString()
  const certify = (version: string) =>
    must('POST', `${phase}/release-certification?wait=true`, {
      ...{ release: { name: marker, version }, environment: `${marker}-environment` },
      window: { from },
    })
  const [certification] = await Promise.all([certify('1'), certify('2')])
  return {
    ...{ policy_id: marker, version: '1', eval_run_id: evaluated.eval_run_id },
    certification_id: String(certification.certification_id),
  }
}

async function seedQueries(must: Must) {
  const query = { kind: 'query', visibility: 'project' }
  const body = { entity: 'observations', window: { last: '2h' }, select: ['observation_id'] }
  const save = (n: number) =>
    must('POST', `${v2}/saved-queries`, { ...query, body, name: `${marker} query ${n}` })
  const [first, second] = await Promise.all([save(1), save(2)])
  return {
    saved_query_id: String(first.saved_query_id),
    // No path of a cell names it, so that only the victim's trail has it.
    unasked: String(second.saved_query_id),
  }
}

async function seedLifecycle(must: Must, { db, project_id }: World) {
  const held = (n: number) => ({ kind: 'user', value: `${marker}-held-${n}`, reason: marker })
  const hold = (n: number) => must('POST', `${v2}/legal-holds`, held(n))
  const gone = (n: number) => ({ user_id: `${marker}-gone-${n}`, reason: marker })
  const erase = (n: number) => must('POST', `${v2}/erasures`, gone(n))
  const [holds, erasures] = [
    await Promise.all([hold(1), hold(2)]),
    await Promise.all([erase(1), erase(2)]),
  ]
  const { job_id: benchmark } = await must('POST', `${v2}/store-benchmark/run`, {})
  const { job_id: retention } = await must('POST', `${v2}/retention/run`)
  const { job_id: archive } = await must('POST', `${v2}/archive/run`, {
    window: { from: '2026-01-01T00:00:00Z', to: '2026-01-03T00:00:00Z' },
  })
  const now = new Date().toISOString()
  const slice = (n: number) => ({
    ...{ id: newId(), project_id, name: `${marker}-slice-${n}`, archive_run_id: archive },
    ...{ job_id: newId(), state: 'ready' as const, kinds: '["events"]', created_by: marker },
    ...{ created_at: now, expires_at: new Date(Date.now() + 3_600_000).toISOString() },
  })
  const slices = [slice(1), slice(2)]
  await db.insertInto('restored_slices').values(slices).execute()
  const restores = slices.map(({ job_id: id }) => ({
    // Slices of a failed restore are dropped by a worker, a minute later.
    ...{ id, project_id, kind: 'restore', state: 'succeeded' as const, params: '{}' },
    ...{ requested_by: marker, ended_at: now },
  }))
  await db.insertInto('job_runs').values(restores).execute()
  return {
    ...{ hold_id: holds[0].hold_id, erasure_id: erasures[0].erasure_id },
    ...{ slice_id: String(slices[0]?.id), 'restore/runs': String(slices[0]?.job_id) },
    ...{ 'store-benchmark/runs': benchmark, 'retention/runs': retention, 'archive/runs': archive },
  }
}

async function seedScenario({ db, project_id }: World) {
  const now = new Date().toISOString()
  const scenario_id = newId()
  const values = {
    ...{ id: scenario_id, project_id, state: 'ended' as const, step: marker, error: marker },
    ...{ outcome: 'failed' as const, record: '{}', requested_by: marker, started_at: now },
    ...{ heartbeat_at: now, ended_at: now },
  }
  await db.insertInto('onboarding_scenarios').values(values).execute()
  return { scenario_id }
}
