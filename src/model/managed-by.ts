import { z } from 'zod'
import { problem } from '../kernel/problem.ts'
import { record } from './named-schemas.ts'

/** The custom resource that manages an object of the service. */
export const managedByField = record('ManagedBy', {
  kind: z.string().min(1).max(63),
  namespace: z.string().min(1).max(63),
  name: z.string().min(1).max(253),
  uid: z.string().min(1).max(64),
})

export type ManagedBy = z.output<typeof managedByField>

/** Identity of a resource without its uid. */
export type ResourceName = Pick<ManagedBy, 'kind' | 'namespace' | 'name'>

/** A resource in a query: `RetentionPolicy/team-a/default`. */
export const managedByParameter = z
  .string()
  .max(400)
  .regex(/^[A-Za-z]+\/[a-z0-9-]+\/[a-z0-9.-]+$/, 'expected Kind/namespace/name')
  .meta({ id: 'ResourceName' })
  .transform((text): ResourceName => {
    const [kind = '', namespace = '', name = ''] = text.split('/')
    return { kind, namespace, name }
  })
  .describe('A custom resource, as `Kind/namespace/name`.')

/**
 * Rejects a change of a managed object by anyone but its resource. The uid is not compared: a
 * resource that was restored from a backup has a new one. Throws `managed_by_kubernetes`.
 */
export function refuseUnlessOwner(owner: ResourceName | null, by: ResourceName | null): void {
  if (owner === null) return
  const { kind, namespace, name } = owner
  if (by?.kind === kind && by.namespace === namespace && by.name === name) return
  throw problem('managed_by_kubernetes', {
    detail: `${kind} ${namespace}/${name} manages this object: change that resource instead`,
  })
}
