import { expect, test } from 'vitest'
import { checkRoleChange } from './role-change.ts'

type Row = [
  actor: 'owner' | 'admin' | 'member' | undefined,
  current: 'owner' | 'admin' | 'member' | undefined,
  next: 'owner' | 'admin' | 'member' | undefined,
  other_owners: number,
  code: string | undefined,
]

test.each<Row>([
  ['owner', undefined, 'owner', 0, undefined],
  ['owner', 'owner', 'member', 1, undefined],
  ['owner', 'owner', undefined, 1, undefined],
  ['owner', 'owner', 'owner', 0, undefined],
  ['owner', 'owner', 'admin', 0, 'last_owner'],
  ['owner', 'owner', undefined, 0, 'last_owner'],
  ['admin', undefined, 'admin', 0, undefined],
  ['admin', 'member', undefined, 0, undefined],
  ['admin', undefined, 'owner', 0, 'permission_denied'],
  ['admin', 'owner', 'member', 1, 'permission_denied'],
  ['admin', 'owner', undefined, 1, 'permission_denied'],
  ['member', undefined, 'member', 0, 'permission_denied'],
  ['member', 'member', 'admin', 0, 'permission_denied'],
  [undefined, undefined, 'member', 0, 'permission_denied'],
])('%s changes %s to %s with %i other owners: %s', (...row) => {
  const [actor, current, next, other_owners, code] = row
  const check = () => checkRoleChange({ actor, current, next, other_owners })
  if (code === undefined) expect(check).not.toThrow()
  else expect(check).toThrow(expect.objectContaining({ code }))
})
