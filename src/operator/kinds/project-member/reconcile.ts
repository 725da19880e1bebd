import { isDeepStrictEqual } from 'node:util'
import { projectRoles } from '../../../kernel/scopes.ts'
import type { ManagedBy } from '../../../model/managed-by.ts'
import {
  type ConditionDraft,
  type EventDraft,
  NotReady,
  type ReconcileDeps,
  type Reconciled,
  type Resource,
} from '../../contract.ts'
import { ownerOf } from '../../installation.ts'
import { isRefusal } from '../../service/service-client.ts'
import { endMember, type Member, putMember, readMember } from './member-api.ts'
import type { ProjectMemberSpec, ProjectMemberStatus } from './spec.ts'

type ProjectMember = Resource<ProjectMemberSpec, ProjectMemberStatus>

/**
 * Invites the person, or changes the role that the resource gives. A revoked or expired invitation
 * is not repeated: a person decided that, or the mail was ignored.
 */
export async function reconcileProjectMember(
  { meta, spec, status }: ProjectMember,
  deps: ReconcileDeps,
): Promise<Reconciled<ProjectMemberStatus>> {
  try {
    const before = await readMember(meta, deps)
    const owner = ownerOf(meta, deps.installation)
    const isSettled = before !== undefined && isDeclared(before, owner, spec)
    // An unsent link is sent once the service has a mail server.
    const isWritten = !isSettled || before.status === 'link_not_sent'
    if (isWritten) await putMember(meta, spec, deps)
    const after = isWritten ? await readMember(meta, deps) : before
    if (after === undefined || !isDeclared(after, owner, spec)) {
      throw new NotReady('NotApplied', 'the member was written, but the read-back differs')
    }
    const isPending = after.status === 'invited' || after.status === 'link_not_sent'
    return {
      conditions: [readyCondition(after)],
      status: { invitationId: after.id, state: states[after.status] },
      events: eventsOf({ before, after, state: status.state }),
      ...(isPending && { again_after_ms: pending_ms }),
    }
  } catch (error) {
    if (isRefusal(error, 'project_not_found')) throw new NotReady('ProjectNotFound', error.message)
    if (isRefusal(error, 'limit_reached')) throw new NotReady('LimitReached', error.message)
    throw error
  }
}

/** Revokes the invitation and the membership that it gave; `Retain` keeps the membership. */
export async function removeProjectMember(
  { meta, spec }: ProjectMember,
  deps: ReconcileDeps,
): Promise<void> {
  await endMember(meta, { retain: spec.deletionPolicy === 'Retain' }, deps)
}

/** Revokes the invitation and the membership after the grant was withdrawn. */
export async function withdrawProjectMember(
  { meta }: Pick<ProjectMember, 'meta'>,
  deps: ReconcileDeps,
): Promise<void> {
  await endMember(meta, { retain: false }, deps)
}

/** Interval at which an open invitation is read. */
const pending_ms = 60_000

const states = {
  invited: 'Invited',
  link_not_sent: 'LinkNotSent',
  accepted: 'Accepted',
  expired: 'Expired',
  ended: 'Ended',
} as const

function isDeclared(member: Member, owner: ManagedBy, { email, role }: ProjectMemberSpec): boolean {
  const isSame = member.email === email && member.role === role
  return isSame && isDeepStrictEqual(member.managed_by, owner)
}

function readyCondition(member: Member): ConditionDraft {
  const { id, status } = member
  switch (status) {
    case 'invited':
      return ready('Invited', 'the invitation was mailed; the person has not accepted it yet')
    case 'link_not_sent':
      return notReady(
        'LinkNotSent',
        `the service has no mail server. Configure LOOPTRACE_SMTP_URL, or as an administrator of the organization send POST /api/v2/access/organizations/{organization_id}/invitations/${id}/resend and pass the link on`,
      )
    case 'expired':
      return notReady(
        'Expired',
        `the person did not accept in time. Resend invitation ${id}, or delete and create this resource`,
      )
    case 'ended':
      return notReady(
        'Ended',
        'a person revoked the invitation or removed the member. To invite again, delete and create this resource',
      )
    case 'accepted':
      return acceptedCondition(member)
  }
}

/** A role that a person gave is not changed; it may be lower than the declared one. */
function acceptedCondition({ role, member_role }: Member): ConditionDraft {
  const actual = member_role ?? 'none'
  const isEnough =
    member_role !== null && projectRoles.indexOf(member_role) >= projectRoles.indexOf(role)
  return isEnough
    ? ready('Synced', `the person accepted and has the role ${actual}`)
    : notReady(
        'RoleGivenByPerson',
        `a person gave this member the role ${actual}, which this resource does not change`,
      )
}

const ready = (reason: string, message: string): ConditionDraft => ({
  ...{ type: 'Ready', status: 'True', reason, message },
})
const notReady = (reason: string, message: string): ConditionDraft => ({
  ...{ type: 'Ready', status: 'False', reason, message },
})

function eventsOf(seen: {
  before: Member | undefined
  after: Member
  state: ProjectMemberStatus['state']
}): EventDraft[] {
  const { before, after, state } = seen
  const action = 'PutMember'
  if (before === undefined) {
    return [{ type: 'Normal', reason: 'Created', action, note: 'created the invitation' }]
  }
  if (before.role !== after.role) {
    return [{ type: 'Normal', reason: 'Updated', action, note: `set the role ${after.role}` }]
  }
  if (state === undefined || state === states[after.status]) return []
  return [
    { type: 'Normal', reason: states[after.status], action, note: readyCondition(after).message },
  ]
}
