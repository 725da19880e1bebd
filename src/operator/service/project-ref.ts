import { z } from 'zod'
import { BoundedCache } from '../../kernel/bounded-cache.ts'
import type { Clock } from '../../kernel/time.ts'
import { NotReady } from '../contract.ts'
import { type ServiceClient, ServiceUnavailable } from './service-client.ts'

/** The `projectRefField` of a spec: either `id` or `name` is set. */
export type ProjectRef = { id?: string | undefined; name?: string | undefined }

/**
 * Returns the id of the project of a resource. A name is looked up in the service; with a clock the
 * result is cached for a minute. Throws `NotReady`: `ProjectNotFound` when no project has the name,
 * `ProjectAmbiguous` when several have. An id is not looked up: the first request in the project
 * shows whether it exists.
 */
export async function resolveProject(
  ref: ProjectRef,
  service: ServiceClient,
  clock?: Clock,
): Promise<string> {
  if (ref.id !== undefined) return ref.id.toLowerCase()
  const name = ref.name ?? ''
  const cached = clock && cacheFor(service).get(name)
  if (cached !== undefined && clock !== undefined && clock.now_ms() < cached.until_ms) {
    return cached.id
  }
  const id = await lookUp(name, service)
  if (clock !== undefined) cacheFor(service).set(name, { id, until_ms: clock.now_ms() + cache_ms })
  return id
}

/** Bounds the cache: a project may be renamed and its name given to another project. */
const cache_ms = 60_000
const cache_max = 2_000

type ProjectCache = BoundedCache<string, { id: string; until_ms: number }>

/** One cache per client: another client may use another service. */
const caches = new WeakMap<ServiceClient, ProjectCache>()

function cacheFor(service: ServiceClient): ProjectCache {
  const cache: ProjectCache = caches.get(service) ?? new BoundedCache(cache_max)
  caches.set(service, cache)
  return cache
}

const projectList = z.object({ projects: z.array(z.object({ id: z.string(), name: z.string() })) })

/** Projects of one name that are fetched: enough to detect and list duplicates. */
const matches_max = 5

async function lookUp(name: string, service: ServiceClient): Promise<string> {
  const path = `/api/v2/access/projects?${new URLSearchParams({ name, limit: String(matches_max) })}`
  const { body } = await service.request({ method: 'GET', path })
  const parsed = projectList.safeParse(body)
  if (!parsed.success) {
    throw new ServiceUnavailable('the service answered with an unreadable list of projects')
  }
  const matches = parsed.data.projects.filter((project) => project.name === name)
  const [first, second] = matches
  if (first === undefined) {
    throw new NotReady(
      'ProjectNotFound',
      `no project is named "${name}": create it, or correct projectRef`,
    )
  }
  if (second === undefined) return first.id
  const ids = matches.map(({ id }) => id).join(', ')
  throw new NotReady(
    'ProjectAmbiguous',
    `several projects are named "${name}": set projectRef.id to one of ${ids}`,
  )
}

/**
 * Projects that resources may use, by namespace. A project is listed by name or by id, as the
 * resources refer to it. `*` as a key means every namespace, as a value every project.
 */
export type AllowedProjects = Readonly<Record<string, readonly string[]>>

/**
 * Throws `NotReady` (`ProjectNotAllowed`) when a resource's namespace may not use its project, so
 * that write access to one namespace does not give access to the keys of every project. Without
 * `allowed` every namespace may use every project.
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
    `namespace "${namespace}" may not use the project "${named}": add it to LOOPTRACE_OPERATOR_PROJECTS of the operator`,
  )
}
