import { z } from 'zod'
import { projectRoles } from '../../../kernel/scopes.ts'
import { managedByField } from '../../../model/managed-by.ts'
import type {
  ConditionDraft,
  EventDraft,
  ReconcileDeps,
  Reconciled,
  Resource,
  ResourceMeta,
} from '../../contract.ts'
import { removalOf, singleObject } from '../../declared/declared-object.ts'
import { type Change, reconcileDeclared } from '../../declared/reconcile-declared.ts'
import { type ProjectMemberSpec, type ProjectMemberStatus, toMember } from './spec.ts'

type ProjectMember = Resource<ProjectMemberSpec, ProjectMemberStatus>

const memberShape = z.object({
  id: z.string(),
  email: z.string(),
  role: z.enum(projectRoles),
  status: z.enum(['invited', 'link_not_sent', 'accepted', 'expired', 'ended']),
  member_role: z.enum(projectRoles).nullable(),
  managed_by: managedByField.nullable(),
})

/** A declared member in the service. */
type Member = z.output<typeof memberShape>

function declaredMember(meta: ResourceMeta, deps: ReconcileDeps) {
  return singleObject<Member>(
    {
      path: `/api/v2/access/projects/${deps.project_id}/declared-members`,
      noun: 'member',
      shape: memberShape,
      not_found: 'member_not_found',
      is_by_owner: true,
      is_read_before_removal: true,
      reasons: { project_not_found: 'ProjectNotFound', limit_reached: 'LimitReached' },
    },
    meta,
    deps,
  )
}

/**
 * Invites the person, or changes the role that the resource gives. A revoked or expired invitation
 * is not repeated: a person decided that, or the mail was ignored.
 */
export async function reconcileProjectMember(
  { meta, spec, status }: ProjectMember,
  deps: ReconcileDeps,
): Promise<Reconciled<ProjectMemberStatus>> {
  const object = declaredMember(meta, deps)
  return reconcileDeclared(
    {
      noun: 'member',
      action: 'PutMember',
      object,
      was_applied: false,
      body: { ...toMember(spec), managed_by: object.owner },
      valuesOf: ({ email, role, managed_by }) => ({ email, role, managed_by }),
      // An unsent link is sent once the service has a mail server.
      isDue: (stored) => stored.status === 'link_not_sent',
      report: (stored, change) => ({
        conditions: [readyCondition(stored)],
        status: { invitationId: stored.id, state: states[stored.status] },
        events: stateEvents(stored, change, status.state),
        ...(isPending(stored) && { again_after_ms: pending_ms }),
      }),
    },
    deps,
  )
}

/** Revokes the invitation and the membership that it gave; `Retain` keeps the membership. */
export const projectMemberRemoval = removalOf(declaredMember, { withdrawn: 'deleted' })

/** Interval at which an open invitation is read. */
const pending_ms = 60_000

const isPending = ({ status }: Member) => status === 'invited' || status === 'link_not_sent'

const states = {
  invited: 'Invited',
  link_not_sent: 'LinkNotSent',
  accepted: 'Accepted',
  expired: 'Expired',
  ended: 'Ended',
} as const

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

const readiness =
  (status: 'True' | 'False') =>
  (reason: string, message: string): ConditionDraft => ({ type: 'Ready', status, reason, message })
const ready = readiness('True')
const notReady = readiness('False')

/** Returns the event of an invitation that changed its state by itself. */
function stateEvents(
  member: Member,
  { changes }: Change<Member>,
  before: ProjectMemberStatus['state'],
): EventDraft[] {
  const state = states[member.status]
  if (changes.length > 0 || before === undefined || before === state) return []
  const note = readyCondition(member).message
  return [{ type: 'Normal', reason: state, action: 'PutMember', note }]
}
