import { problem } from '../../../kernel/problem.ts'
import type { OrganizationRole } from '../../../kernel/scopes.ts'

/** A change of a person's role in an organization; undefined: not (or no longer) a member. */
export type RoleChange = {
  actor: OrganizationRole | undefined
  current: OrganizationRole | undefined
  next: OrganizationRole | undefined
  /** Owners who can sign in, without the person of the change. */
  other_owners: number
}

/**
 * Throws unless the actor may make the change: only owners add, change or remove owners, and an
 * organization keeps at least one owner (`last_owner`).
 */
export function checkRoleChange({ actor, current, next, other_owners }: RoleChange): void {
  if (actor !== 'owner' && actor !== 'admin') {
    throw problem('permission_denied', { detail: 'This requires the organization role admin' })
  }
  const touchesOwner = current === 'owner' || next === 'owner'
  if (touchesOwner && actor !== 'owner') {
    throw problem('permission_denied', { detail: 'Only an owner can add or change owners' })
  }
  if (current === 'owner' && next !== 'owner') assertOwnerRemains(other_owners)
}

/** Throws `last_owner` when no other owner can sign in. */
export function assertOwnerRemains(other_owners: number): void {
  if (other_owners > 0) return
  throw problem('last_owner', { detail: 'Make another member an owner first' })
}
