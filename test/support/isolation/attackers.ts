import { newId } from '../../../src/kernel/ids.ts'
import { keyScopes } from '../../../src/kernel/scopes.ts'
import type { Route } from '../../../src/platform/http/index.ts'
import { eventually } from '../eventually.ts'
import { acceptInvitation, type Victim } from './victim.ts'
import type { Json, Who, World } from './world.ts'

/** A caller without access to the victim's project, and the ids of its own objects. */
export type Attacker = {
  name: string
  who: Who & { project_id: string }
  /** Whether the route accepts its credentials at all. */
  mayCall(route: Route): boolean
  organization_id: string
  own: Readonly<Record<string, string>>
}

/**
 * Creates the callers: the owner of another organization, an admin of another project of the same
 * organization, and a key and a service account of the other organization with every scope. Each
 * has a project of its own, so that the objects that one creates do not meet those of another.
 */
export async function makeAttackers(world: World, victim: Victim): Promise<Attacker[]> {
  const { organization_id, token } = await makeOrganization(world, victim)
  const post: Post = async (path, body, project_id) => {
    const named = project_id === undefined ? {} : { project_id }
    const reply = await world.call('POST', path, { token, ...named, body })
    if (reply.status < 300) return reply.body
    throw new Error(`POST ${path}: ${reply.text}`)
  }
  const takesTokens = ({ auth }: Route) => auth === 'jwt' || auth === 'jwt_or_key'
  const takesKeys = ({ auth }: Route) => auth === 'key' || auth === 'jwt_or_key'
  const [first, second, third] = await Promise.all(
    ['first', 'second', 'third'].map((name) => makeProject(world, { post, organization_id }, name)),
  )
  if (first === undefined || second === undefined || third === undefined) throw new Error('none')
  const accounts = `${access}/service-accounts`
  const robot = await post(accounts, { name: 'robot', scopes: [...keyScopes] }, third.project_id)
  const { key } = await post(`${accounts}/${robot.id}/keys`, {}, third.project_id)
  const as = ({ project_id, own }: Project, who: Who) => ({
    ...{ organization_id, own, who: { ...who, project_id } },
  })
  return [
    { name: 'stranger', ...as(first, { token }), mayCall: takesTokens },
    { name: 'key', ...as(second, { key: second.key }), mayCall: takesKeys },
    { name: 'robot', ...as(third, { key }), mayCall: takesKeys },
    { name: 'neighbour', ...(await makeNeighbour(world, victim)), mayCall: takesTokens },
  ]
}

const access = '/api/v2/access'
type Post = (path: string, body: unknown, project_id?: string) => Promise<Json>
type Project = { project_id: string; key: string; own: Attacker['own'] }

/** Creates a project with a key of every scope, and with records. */
async function makeProject(
  world: World,
  { post, organization_id }: { post: Post; organization_id: string },
  name: string,
): Promise<Project> {
  const projects = `${access}/organizations/${organization_id}/projects`
  const { id: project_id } = await post(projects, { name })
  const keys = `${access}/projects/${project_id}/api-keys`
  const { key } = await post(keys, { name: 'all', scopes: [...keyScopes] })
  return {
    project_id,
    key,
    own: { project_id, organization_id, ...(await ownRecords(world, key)) },
  }
}

async function makeOrganization(world: World, { owner }: Victim) {
  const post = async (path: string, body: unknown) => {
    const reply = await world.call('POST', path, { ...owner, body })
    if (reply.status < 300) return reply.body
    throw new Error(`POST ${path}: ${reply.text}`)
  }
  const organizations = '/api/v2/access/organizations'
  const { id: organization_id } = await post(organizations, { name: 'the others' })
  const organization = `${organizations}/${organization_id}`
  const invited = { email: 'stranger@example.com', role: 'owner' }
  const { token: link } = await post(`${organization}/members`, invited)
  const { token } = await acceptInvitation(world, link, 'Stranger')
  await post(`${organization}/leave`, undefined)
  return { organization_id: String(organization_id), token }
}

async function makeNeighbour(world: World, { owner, organization_id }: Victim) {
  const organization = `/api/v2/access/organizations/${organization_id}`
  const made = await world.call('POST', `${organization}/projects`, {
    ...{ ...owner, body: { name: 'next door' } },
  })
  const project_id = String(made.body.id)
  const invited = await world.call('POST', `/api/v2/access/projects/${project_id}/members`, {
    ...{ ...owner, body: { email: 'neighbour@example.com', role: 'admin' } },
  })
  const { token } = await acceptInvitation(world, invited.body.token, 'Neighbour')
  const keys = `/api/v2/access/projects/${project_id}/api-keys`
  const { body } = await world.call('POST', keys, { token, body: { name: 'own' } })
  const own = { project_id, ...(await ownRecords(world, body.key)) }
  return { who: { token, project_id }, organization_id, own }
}

/** Sends records to the attackers' project, so that its lists are not empty. */
async function ownRecords(world: World, key: string) {
  const [trace_id, task_id] = [newId(), 'own-task']
  const start_time = new Date(Date.now() - 60_000).toISOString()
  const observations = [1, 2].map((n) => ({
    ...{ trace_id, task_id: n === 1 ? task_id : 'own-task-2', observation_id: `own-${n}` },
    ...{ start_time, end_time: start_time, type: 'generation', output: 'mine' },
  }))
  const body = { idempotency_key: 'own', observations }
  await world.call('POST', '/api/v2/observability/ingest?wait=true', { key, body })
  await eventually('the own tasks are there', async () => {
    const { body } = await world.call('GET', '/api/v1/tasks', { key })
    return body.tasks.length === 2
  })
  return { trace_id, task_id }
}
