import { z } from 'zod'
import { BoundedCache } from '../../kernel/bounded-cache.ts'
import type { Clock } from '../../kernel/time.ts'
import { NotReady } from '../contract.ts'
import { type ServiceClient, ServiceUnavailable } from './service-client.ts'

/** `projectRefField` of a spec: one of the two is there. */
export type ProjectRef = { id?: string | undefined; name?: string | undefined }

/**
 * The id of the project that a resource is about. A name is looked up in the service; with a clock
 * what it found is kept for a minute. Throws `NotReady`: `ProjectNotFound` when no project has the
 * name, `ProjectAmbiguous` when several have. An id is not looked up: the first request in the
 * project tells whether it is there.
 */
export async function resolveProject(
  ref: ProjectRef,
  service: ServiceClient,
  clock?: Clock,
): Promise<string> {
  if (ref.id !== undefined) return ref.id.toLowerCase()
  const name = ref.name ?? ''
  const known = clock && knownTo(service).get(name)
  if (known !== undefined && clock !== undefined && clock.now_ms() < known.until_ms) return known.id
  const id = await lookUp(name, service)
  if (clock !== undefined) knownTo(service).set(name, { id, until_ms: clock.now_ms() + kept_ms })
  return id
}

/** A project may be renamed, and its name given to another one. */
const kept_ms = 60_000
const kept_max = 2_000

type Known = BoundedCache<string, { id: string; until_ms: number }>

/** By client: another one may lead to another service. */
const knownBy = new WeakMap<ServiceClient, Known>()

function knownTo(service: ServiceClient): Known {
  const known: Known = knownBy.get(service) ?? new BoundedCache(kept_max)
  knownBy.set(service, known)
  return known
}

const projectList = z.object({ projects: z.array(z.object({ id: z.string(), name: z.string() })) })

/** Enough to tell none, one and several apart. */
const shown_max = 5

async function lookUp(name: string, service: ServiceClient): Promise<string> {
  const path = `/api/v2/access/projects?${new URLSearchParams({ name, limit: String(shown_max) })}`
  const { body } = await service.request({ method: 'GET', path })
  const parsed = projectList.safeParse(body)
  if (!parsed.success) {
    throw new ServiceUnavailable('the service answered a list of projects that can not be read')
  }
  const found = parsed.data.projects.filter((project) => project.name === name)
  const [first, second] = found
  if (first === undefined) {
    throw new NotReady('ProjectNotFound', `the service has no project of the name "${name}"`)
  }
  if (second === undefined) return first.id
  const ids = found.map(({ id }) => id).join(', ')
  throw new NotReady(
    'ProjectAmbiguous',
    `several projects have the name "${name}": name one by its id (${ids})`,
  )
}

/**
 * Projects that the resources of a namespace may name, each as a resource names it: by name or by
 * id. `*` stands for every namespace, and for every project.
 */
export type AllowedProjects = Readonly<Record<string, readonly string[]>>

/**
 * Refuses a resource about a project that its namespace may not name: whoever may write resources in
 * one namespace must not come by the keys of another one's project. Throws `NotReady`
 * (`ProjectNotAllowed`). Where nothing is said every namespace may name every project.
 */
export function refuseForeignProject(
  allowed: AllowedProjects | undefined,
  { namespace, projectRef }: { namespace: string; projectRef: ProjectRef | undefined },
): void {
  if (allowed === undefined || projectRef === undefined) return
  const named = projectRef.id?.toLowerCase() ?? projectRef.name ?? ''
  const own = Object.hasOwn(allowed, namespace) ? (allowed[namespace] ?? []) : []
  const projects = [...own, ...(allowed['*'] ?? [])]
  if (projects.some((project) => project === '*' || project === named)) return
  throw new NotReady(
    'ProjectNotAllowed',
    `resources of the namespace "${namespace}" may not name the project "${named}": the operator's LOOPTRACE_OPERATOR_PROJECTS does not list it there`,
  )
}
