import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import {
  type ManagedBy,
  managedByField,
  managedByParameter,
  type ResourceName,
  refuseUnlessOwner,
} from '../../../model/managed-by.ts'
import type { Caller } from '../../../platform/http/index.ts'

/** In the body of a write that an operator may make. */
export const declaredBy = managedByField
  .optional()
  .describe('The resource that declares it. Only the operator of a cluster may say it, and must.')

/** The same in the query of a deletion. */
export const declaredByParameter = managedByParameter
  .optional()
  .describe(
    'The resource that declares it, as `Kind/namespace/name`. Only the operator of a cluster may say it, and must.',
  )

/** Beside `declaredBy`, where the resource may come into another one's place. */
export const takeOver = z
  .boolean()
  .default(false)
  .describe('Also when another resource declares it, which is no more. With managed_by.')

/**
 * The resource that a call speaks for; null for a call of a person. Throws `invalid_request` when an
 * operator names none, or anybody else names one.
 */
export function spokenFor<R extends ResourceName>(
  caller: Caller,
  { managed_by, take_over = false }: { managed_by?: R | undefined; take_over?: boolean },
): R | null {
  if (caller.kind === 'operator') {
    if (managed_by !== undefined) return managed_by
    refuse('expected the resource that the operator speaks for')
  }
  if (managed_by !== undefined || take_over) refuse('only the operator of a cluster may say it')
  return null
}

/**
 * Refuses the change of an account, or of a key of it, by anybody but the resource that declares it.
 * An operator changes nothing that no resource declares. Throws `managed_by_kubernetes`.
 */
export function refuseChange(
  caller: Caller,
  owner: ManagedBy | null,
  by: ResourceName | null,
): void {
  refuseUnlessOwner(owner, by)
  if (caller.kind !== 'operator' || owner !== null) return
  throw problem('permission_denied', {
    detail: 'No resource declares this, so it is not the operator that changes it',
  })
}

function refuse(detail: string): never {
  throw problem('invalid_request', {
    detail: `/managed_by: ${detail}`,
    faults: [{ pointer: '/managed_by', detail }],
  })
}
