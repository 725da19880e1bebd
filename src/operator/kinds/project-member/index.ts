import { type Kind, projectIdColumn } from '../../contract.ts'
import { projectMemberRemoval, reconcileProjectMember } from './reconcile.ts'
import {
  type ProjectMemberSpec,
  type ProjectMemberStatus,
  projectMemberSpec,
  projectMemberStatus,
} from './spec.ts'

/** The kind of a person's role in a project. */
export const projectMemberKind: Kind<ProjectMemberSpec, ProjectMemberStatus> = {
  kind: 'ProjectMember',
  plural: 'projectmembers',
  singular: 'projectmember',
  short_names: ['ltmember'],
  description:
    'A person with a role in a project. The person gets an invitation by mail and is a member after accepting it.',
  spec: projectMemberSpec,
  status: projectMemberStatus,
  rules: [],
  columns: [
    {
      name: 'Email',
      type: 'string',
      path: '.spec.email',
      description: 'E-mail address of the person.',
    },
    { name: 'Role', type: 'string', path: '.spec.role', description: 'Role in the project.' },
    {
      name: 'State',
      type: 'string',
      path: '.status.state',
      description: 'State of the invitation.',
    },
    projectIdColumn,
  ],
  reasons: {
    Invited: 'True: the invitation was mailed. The person has not accepted it yet.',
    LinkNotSent:
      'The service has no mail server. Configure one, or resend the invitation and pass the link on.',
    Expired: 'The person did not accept in time. Resend the invitation, or recreate the resource.',
    Ended: 'A person revoked the invitation or removed the member.',
    RoleGivenByPerson: 'A person gave the member a lower role, which the resource does not change.',
    LimitReached: 'Resources have too many open invitations to the project.',
  },
  project: {
    needs: ({ role }) => ({ roles: [role] }),
    withdraw: projectMemberRemoval.withdraw,
  },
  example: {
    metadata: { name: 'ada', namespace: 'looptrace' },
    spec: { projectRef: { name: 'default' }, email: 'ada@example.com', role: 'editor' },
  },
  reconcile: reconcileProjectMember,
  remove: projectMemberRemoval.remove,
}
