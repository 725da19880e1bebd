import { z } from 'zod'
import { problem } from '../kernel/problem.ts'

/** The custom resource that something of the service is declared by. */
export const managedByField = z.strictObject({
  kind: z.string().min(1).max(63),
  namespace: z.string().min(1).max(63),
  name: z.string().min(1).max(253),
  uid: z.string().min(1).max(64),
})

export type ManagedBy = z.output<typeof managedByField>

/**
 * Refuses the change of what a resource declares by anybody but that resource. Its uid does not
 * count: a resource that was restored from a backup has a new one. Throws `managed_by_kubernetes`.
 */
export function refuseUnlessOwner(owner: ManagedBy | null, by: ManagedBy | null): void {
  if (owner === null) return
  const { kind, namespace, name } = owner
  if (by?.kind === kind && by.namespace === namespace && by.name === name) return
  throw problem('managed_by_kubernetes', {
    detail: `${kind} ${namespace}/${name} declares this: change that resource instead`,
  })
}
