import { problem } from '../../../kernel/problem.ts'
import type { OrganizationRole } from '../../../kernel/scopes.ts'

/** A change of what somebody is in an organization; undefined: not (or no longer) a member. */
export type RoleChange = {
  actor: OrganizationRole | undefined
  current: OrganizationRole | undefined
  next: OrganizationRole | undefined
  /** Owners before the change. */
  owners: number
}

/**
 * Throws unless the actor may make the change: nobody grants or takes more than they have (only
 * owners touch owners), and an organization keeps an owner (`last_owner`).
 */
export function checkRoleChange({ actor, current, next, owners }: RoleChange): void {
  if (actor !== 'owner' && actor !== 'admin') {
    throw problem('permission_denied', { detail: 'This takes the organization role admin' })
  }
  const touchesOwner = current === 'owner' || next === 'owner'
  if (touchesOwner && actor !== 'owner') {
    throw problem('permission_denied', { detail: 'Only an owner makes or changes owners' })
  }
  if (current === 'owner' && next !== 'owner' && owners <= 1) {
    throw problem('last_owner', { detail: 'Make somebody else an owner first' })
  }
}
