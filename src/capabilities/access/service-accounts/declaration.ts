import { z } from 'zod'
import { problem } from '../../../kernel/problem.ts'
import {
  labelPattern,
  type ManagedBy,
  managedByField,
  managedByParameter,
  type ResourceName,
  refuseUnlessOwner,
} from '../../../model/managed-by.ts'
import type { Caller } from '../../../platform/http/index.ts'

/** Body field of a write that an operator may make. */
export const declaredBy = managedByField
  .optional()
  .describe(
    'Kubernetes resource that declares the object. Required from an operator, refused from other callers.',
  )

/** The field `managed_by` as a query parameter of a deletion. */
export const declaredByParameter = managedByParameter
  .optional()
  .describe(
    'Kubernetes resource that declares the object, as `Kind/namespace/name` or `Kind/namespace/name/installation`. Required from an operator, ' +
      'refused from other callers.',
  )

/**
 * Body field beside `declaredBy`, with which a resource replaces the one that declares an account.
 */
export const takeOver = z
  .boolean()
  .default(false)
  .describe('Take over an object whose declaring resource no longer exists. Requires managed_by.')

/**
 * Returns the resource for which an operator calls; null for other callers. Throws
 * `invalid_request` when an operator names no resource, or another caller names one.
 */
export function getDeclarer<R extends ResourceName>(
  caller: Caller,
  { managed_by, take_over = false }: { managed_by?: R | undefined; take_over?: boolean },
): R | null {
  if (caller.kind === 'operator') {
    if (managed_by !== undefined) return managed_by
    refuse('expected the resource for which the operator calls')
  }
  if (managed_by !== undefined || take_over)
    refuse('only the operator of a cluster may name a resource')
  return null
}

/**
 * Returns the resource for which an operator calls a route that has no other callers. Throws
 * `permission_denied` for them.
 */
export function requireDeclarer<R extends ResourceName>(
  caller: Caller,
  given: { managed_by?: R | undefined },
): R {
  const by = getDeclarer(caller, given)
  if (by !== null) return by
  throw problem('permission_denied', {
    detail: 'Only the operator of a cluster may declare this. Apply a Kubernetes resource',
  })
}

/**
 * Refuses changes of a declared account or its keys that are not made for the resource that
 * declares it, and an operator's changes of an account that no resource declares. Throws
 * `managed_by_kubernetes`, `permission_denied`.
 */
export function refuseChange(
  caller: Caller,
  owner: ManagedBy | null,
  by: ResourceName | null,
): void {
  refuseUnlessOwner(owner, by)
  if (caller.kind !== 'operator' || owner !== null) return
  throw problem('permission_denied', {
    detail: 'No resource declares this account, so an operator cannot change it',
  })
}

/** Throws `invalid_request` for a name of a declared key that is not a valid resource name. */
export function checkDeclaredName(name: string): void {
  if (name.length <= 63 && labelPattern.test(name)) return
  const detail = `got "${name}", expected up to 63 lower-case letters, digits and - (RFC 1123)`
  throw problem('invalid_request', {
    detail: `/name: ${detail}`,
    faults: [{ pointer: '/name', detail }],
  })
}

function refuse(detail: string): never {
  throw problem('invalid_request', {
    detail: `/managed_by: ${detail}`,
    faults: [{ pointer: '/managed_by', detail }],
  })
}
