import { z } from 'zod'
import { problem } from '../kernel/problem.ts'
import { record } from './named-schemas.ts'

/** The custom resource that something of the service is declared by. */
export const managedByField = record('ManagedBy', {
  kind: z.string().min(1).max(63),
  namespace: z.string().min(1).max(63),
  name: z.string().min(1).max(253),
  uid: z.string().min(1).max(64),
})

export type ManagedBy = z.output<typeof managedByField>

/** Which resource it is, whatever uid it has. */
export type ResourceName = Pick<ManagedBy, 'kind' | 'namespace' | 'name'>

/** The same in a query: `RetentionPolicy/team-a/default`. */
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
 * Refuses the change of what a resource declares by anybody but that resource. Its uid does not
 * count: a resource that was restored from a backup has a new one. Throws `managed_by_kubernetes`.
 */
export function refuseUnlessOwner(owner: ResourceName | null, by: ResourceName | null): void {
  if (owner === null) return
  const { kind, namespace, name } = owner
  if (by?.kind === kind && by.namespace === namespace && by.name === name) return
  throw problem('managed_by_kubernetes', {
    detail: `${kind} ${namespace}/${name} declares this: change that resource instead`,
  })
}
