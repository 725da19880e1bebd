import { problem } from '../../../kernel/problem.ts'
import type { OrganizationRole } from '../../../kernel/scopes.ts'

/** A change of a person's role in an organization; undefined: not (or no longer) a member. */
export type RoleChange = {
  actor: OrganizationRole | undefined
  current: OrganizationRole | undefined
  next: OrganizationRole | undefined
  /** Owners before the change. */
  owners: number
}

/**
 * Throws unless the actor may make the change: only owners add, change or remove owners, and an
 * organization keeps at least one owner (`last_owner`).
 */
export function checkRoleChange({ actor, current, next, owners }: RoleChange): void {
  if (actor !== 'owner' && actor !== 'admin') {
    throw problem('permission_denied', { detail: 'This requires the organization role admin' })
  }
  const touchesOwner = current === 'owner' || next === 'owner'
  if (touchesOwner && actor !== 'owner') {
    throw problem('permission_denied', { detail: 'Only an owner can add or change owners' })
  }
  if (current === 'owner' && next !== 'owner' && owners <= 1) {
    throw problem('last_owner', { detail: 'Make another member an owner first' })
  }
}
