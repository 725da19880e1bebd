import { expect, test } from 'vitest'
import { checkRoleChange } from './role-change.ts'

type Row = [
  actor: 'owner' | 'admin' | 'member' | undefined,
  current: 'owner' | 'admin' | 'member' | undefined,
  next: 'owner' | 'admin' | 'member' | undefined,
  owners: number,
  code: string | undefined,
]

test.each<Row>([
  ['owner', undefined, 'owner', 1, undefined],
  ['owner', 'owner', 'member', 2, undefined],
  ['owner', 'owner', undefined, 2, undefined],
  ['owner', 'owner', 'owner', 1, undefined],
  ['owner', 'owner', 'admin', 1, 'last_owner'],
  ['owner', 'owner', undefined, 1, 'last_owner'],
  ['admin', undefined, 'admin', 1, undefined],
  ['admin', 'member', undefined, 1, undefined],
  ['admin', undefined, 'owner', 1, 'permission_denied'],
  ['admin', 'owner', 'member', 2, 'permission_denied'],
  ['admin', 'owner', undefined, 2, 'permission_denied'],
  ['member', undefined, 'member', 1, 'permission_denied'],
  ['member', 'member', 'admin', 1, 'permission_denied'],
  [undefined, undefined, 'member', 1, 'permission_denied'],
])('%s changes %s to %s with %i owners: %s', (...row) => {
  const [actor, current, next, owners, code] = row
  const check = () => checkRoleChange({ actor, current, next, owners })
  if (code === undefined) expect(check).not.toThrow()
  else expect(check).toThrow(expect.objectContaining({ code }))
})
