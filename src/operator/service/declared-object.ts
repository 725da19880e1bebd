import type { z } from 'zod'
import type { ManagedBy } from '../../model/managed-by.ts'
import { NotReady, type ReconcileDeps, type ResourceMeta } from '../contract.ts'
import { isOwnedBy, ownerOf, ownerQuery } from '../installation.ts'
import { isRefusal, parseAnswer, ServiceRefusal } from './service-client.ts'

/** The fields of an object that show who declares it, and its version for `If-Match`. */
export type Declared = {
  version: number
  managed_by: (Omit<ManagedBy, 'uid'> & { uid: string }) | null
}

/** A collection of objects that resources declare, and that the service gives an id. */
export type Collection<T extends Declared> = {
  /** Path of the collection: `/api/v2/observability/incidents/rules`. */
  root: string
  /** Noun for errors: `incident rule`. */
  noun: string
  /** Code of the refusal for an id that does not exist. */
  not_found: string
  shape: z.ZodType<T>
  /** Returns the objects of a page of the collection. */
  itemsOf(body: unknown): readonly unknown[]
  idOf(object: T): string
}

/** The object of one resource in a collection. Requests name the resource, which the service checks. */
export type DeclaredObject<T extends Declared> = {
  owner: ManagedBy
  /** Finds the object that the resource declares. */
  find(): Promise<T | undefined>
  /**
   * Creates the object, or replaces it at the version that was read. Throws `NotReady` if the project
   * has another object of this name, or the maximum number of objects.
   */
  write(body: object, before: T | undefined): Promise<void>
  /** Deletes the object; `retain` only removes its owner. A missing object or project is ignored. */
  remove(options: { retain: boolean }): Promise<void>
}

/** Returns the object that a resource declares in a collection. */
export function declaredObject<T extends Declared>(
  collection: Collection<T>,
  meta: Pick<ResourceMeta, 'kind' | 'namespace' | 'name' | 'uid'>,
  {
    service,
    project_id,
    installation,
  }: Pick<ReconcileDeps, 'service' | 'project_id' | 'installation'>,
): DeclaredObject<T> {
  const { root, noun, shape, not_found } = collection
  const owner = ownerOf(meta, installation)
  const declarer = `managed_by=${encodeURIComponent(ownerQuery(owner))}`
  const find = async () => {
    const path = `${root}?${declarer}`
    const { body } = await service.request({ method: 'GET', path, project_id })
    const found = collection.itemsOf(body).map((item) => parseAnswer(shape, item, noun))
    return found.find(({ managed_by }) => managed_by !== null && isOwnedBy(managed_by, owner))
  }
  const write = async (body: object, before: T | undefined) => {
    const named = { ...body, managed_by: owner }
    if (before === undefined) {
      await service.request({ method: 'POST', path: root, project_id, body: named })
      return
    }
    const path = `${root}/${collection.idOf(before)}`
    const if_match = `"${before.version}"`
    await service.request({ method: 'PUT', path, project_id, body: named, if_match })
  }
  return {
    owner,
    find,
    write: (body, before) => write(body, before).catch(throwNotReady),
    remove: async ({ retain }) => {
      if (project_id === '') return
      try {
        const object = await find()
        if (object === undefined) return
        const path = `${root}/${collection.idOf(object)}?${declarer}${retain ? '&retain=true' : ''}`
        await service.request({ method: 'DELETE', path, project_id })
      } catch (error) {
        const isGone = [not_found, 'project_not_found'].some((code) => isRefusal(error, code))
        if (!isGone) throw error
      }
    },
  }
}

/** Reasons of Ready for codes of refusals. */
const reasons: Readonly<Record<string, string>> = {
  name_taken: 'NameTaken',
  limit_reached: 'LimitReached',
  project_not_found: 'ProjectNotFound',
}

function throwNotReady(error: unknown): never {
  if (!(error instanceof ServiceRefusal)) throw error
  const reason = reasons[error.code]
  throw reason === undefined ? error : new NotReady(reason, error.message)
}
