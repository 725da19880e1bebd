import { z } from 'zod'
import type { ManagedBy } from '../../model/managed-by.ts'
import { NotReady, type ReconcileDeps, type Resource, type ResourceMeta } from '../contract.ts'
import { isOwnedBy, ownerOf, ownerQuery } from '../installation.ts'
import {
  isRefusal,
  parseAnswer,
  ServiceRefusal,
  type ServiceRequest,
} from '../service/service-client.ts'

/** The fields of an object that show who declares it, and its version. */
export type Stored = { managed_by: ManagedBy | null; version?: number }

/** The object of one resource in the service. Requests name the resource, which the service checks. */
export type DeclaredObject<T extends Stored> = {
  owner: ManagedBy
  /** Finds the object that the resource declares. */
  find(): Promise<T | undefined>
  /** Creates the object, or replaces the one that was read. */
  write(body: object, before: T | undefined): Promise<void>
  /** Deletes the object; `retain` only removes its owner. One that is gone is ignored. */
  remove(options: { retain: boolean }): Promise<void>
}

type Meta = Pick<ResourceMeta, 'kind' | 'namespace' | 'name' | 'uid'>
type Deps = Pick<ReconcileDeps, 'service' | 'project_id' | 'installation'>

/** A kind of objects in the service. */
type Objects<T extends Stored> = {
  /** Path of the collection, or of the one object. */
  path: string
  /** Noun for errors: `incident rule`. */
  noun: string
  shape: z.ZodType<T>
  /** Code of the refusal for an object that does not exist. Left out if there always is one. */
  not_found?: string
  /** Set if an object that is not of the shape counts as absent, so that it is replaced. */
  is_replaced_if_unreadable?: true
  /** Reasons of Ready for codes of refusals that are resolved outside the operator. */
  reasons: Readonly<Record<string, string>>
}

/** Objects of which a project has many, each with a version for `If-Match`. */
export type Collection<T extends Stored> = Objects<T> & {
  /** Field of the objects in a page. */
  list: string
  idOf(object: T): string
}

/** Returns the object of a collection that a resource declares: the one of the id, or that it owns. */
export function declaredObject<T extends Stored>(
  collection: Collection<T>,
  meta: Meta,
  deps: Deps,
  id?: string,
): DeclaredObject<T> {
  const { path: root, list, shape, noun } = collection
  const { owner, declarer, call, read, explain, ignoreGone } = requestsFor(collection, meta, deps)
  const page = z.looseObject({ [list]: z.array(z.unknown()) })
  const owned = async (): Promise<T[]> => {
    const { body } = await call({ method: 'GET', path: `${root}?${declarer}` })
    const items = parseAnswer(page, body, `list of ${list}`)[list] as unknown[]
    return items
      .map((item) => parseAnswer(shape, item, noun))
      .filter(({ managed_by }) => managed_by !== null && isOwnedBy(managed_by, owner))
  }
  return {
    owner,
    find: async () => (id === undefined ? (await owned())[0] : read(`${root}/${id}`)),
    write: explain(async (body, before) => {
      const at = id ?? (before && collection.idOf(before))
      const if_match = `"${before?.version ?? 0}"`
      await (at === undefined
        ? call({ method: 'POST', path: root, body })
        : call({ method: 'PUT', path: `${root}/${at}`, body, if_match }))
    }),
    remove: ({ retain }) =>
      ignoreGone(async () => {
        for (const object of await owned()) {
          const path = `${root}/${collection.idOf(object)}?${declarer}${retain ? '&retain=true' : ''}`
          await call({ method: 'DELETE', path })
        }
      }),
  }
}

/**
 * Returns how objects of a kind end: with their resource, where `Retain` removes only the owner, and
 * after the grant was withdrawn.
 */
export function removalOf(
  objectOf: (meta: ResourceMeta, deps: ReconcileDeps) => DeclaredObject<Stored>,
  { withdrawn }: { withdrawn: 'kept' | 'deleted' },
) {
  return {
    remove: ({ meta, spec }: Pick<Resource, 'meta' | 'spec'>, deps: ReconcileDeps) =>
      objectOf(meta, deps).remove({ retain: spec.deletionPolicy === 'Retain' }),
    withdraw: ({ meta }: Pick<Resource, 'meta'>, deps: ReconcileDeps) =>
      objectOf(meta, deps).remove({ retain: withdrawn === 'kept' }),
  }
}

/** Objects of which a project, or a resource in a project, has one. */
export type Single<T extends Stored> = Objects<T> & {
  /** Whether the path names the object of any resource, so that the resource is in the query. */
  is_by_owner?: true
  /** Whether a removal first reads whether the resource still owns the object. */
  is_read_before_removal?: true
  /** Codes of refusals that also end a removal. */
  gone?: readonly string[]
}

/** Returns the one object of a path that a resource declares. */
export function singleObject<T extends Stored>(
  single: Single<T>,
  meta: Meta,
  deps: Deps,
): DeclaredObject<T> {
  const { path, is_by_owner, is_read_before_removal } = single
  const { owner, declarer, call, read, explain, ignoreGone } = requestsFor(single, meta, deps)
  const find = () => read(is_by_owner ? `${path}?${declarer}` : path)
  const isOwn = async () => {
    const managed_by = (await find())?.managed_by
    return managed_by != null && isOwnedBy(managed_by, owner)
  }
  return {
    owner,
    find: explain(find),
    write: explain(async (body) => void (await call({ method: 'PUT', path, body }))),
    remove: ({ retain }) =>
      ignoreGone(async () => {
        if (is_read_before_removal && !(await isOwn())) return
        const query = `${declarer}${retain ? '&retain=true' : ''}`
        await call({ method: 'DELETE', path: `${path}?${query}` })
      }),
  }
}

/** Returns the requests for one resource, and how their refusals are understood. */
function requestsFor<T extends Stored>(
  objects: Objects<T> & { gone?: readonly string[] },
  meta: Meta,
  { service, project_id, installation }: Deps,
) {
  const { noun, shape, not_found, reasons, gone = [], is_replaced_if_unreadable } = objects
  const missing = not_found === undefined ? [] : [not_found]
  const owner = ownerOf(meta, installation)
  const call = (request: ServiceRequest) => service.request({ ...request, project_id })
  const endings = [...missing, 'project_not_found', ...gone]
  return {
    owner,
    declarer: `managed_by=${encodeURIComponent(ownerQuery(owner))}`,
    call,
    read: async (path: string): Promise<T | undefined> => {
      try {
        const { body } = await call({ method: 'GET', path })
        return is_replaced_if_unreadable
          ? shape.safeParse(body).data
          : parseAnswer(shape, body, noun)
      } catch (error) {
        if (missing.some((code) => isRefusal(error, code))) return undefined
        throw error
      }
    },
    explain:
      <Args extends unknown[], Result>(act: (...args: Args) => Promise<Result>) =>
      (...args: Args): Promise<Result> =>
        act(...args).catch((error: unknown) => {
          throw explained(error, reasons)
        }),
    ignoreGone: async (act: () => Promise<void>): Promise<void> => {
      if (project_id === '') return
      await act().catch((error: unknown) => {
        if (!endings.some((code) => isRefusal(error, code))) throw error
      })
    },
  }
}

/** Converts a refusal that is resolved outside the operator to `NotReady`. */
function explained(error: unknown, reasons: Readonly<Record<string, string>>): unknown {
  if (!(error instanceof ServiceRefusal)) return error
  const reason = reasons[error.code]
  return reason === undefined ? error : new NotReady(reason, error.message)
}
