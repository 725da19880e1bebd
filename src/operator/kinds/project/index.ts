import { type Kind, projectIdColumn } from '../../contract.ts'
import { projectRemoval, reconcileProject } from './reconcile.ts'
import { type ProjectSpec, type ProjectStatus, projectSpec, projectStatus } from './spec.ts'

/** The kind of a project of an organization. */
export const projectKind: Kind<ProjectSpec, ProjectStatus> = {
  kind: 'Project',
  plural: 'projects',
  singular: 'project',
  short_names: ['ltproj'],
  description:
    'A project of an organization. A ProjectGrant of the kind Project and of exactly this organization and name lets a namespace create it.',
  spec: projectSpec,
  status: projectStatus,
  rules: [],
  columns: [
    {
      name: 'Organization',
      type: 'string',
      path: '.spec.organization',
      description: 'Name of the organization.',
    },
    { name: 'Project', type: 'string', path: '.spec.name', description: 'Name of the project.' },
    projectIdColumn,
  ],
  reasons: {
    NameTaken: 'The project exists, and this resource did not create it.',
    OrganizationNotFound: 'The organization does not exist in the service.',
  },
  project: {
    toRef: ({ id, organization, name }) => (id === undefined ? { organization, name } : { id }),
    needs: ({ id }) => ({ adopts: id !== undefined }),
    withdraw: projectRemoval.withdraw,
  },
  example: {
    metadata: { name: 'checkout', namespace: 'looptrace' },
    spec: {
      organization: 'default',
      name: 'checkout',
      deletionPolicy: 'Retain',
      environments: ['production', 'staging'],
    },
  },
  reconcile: reconcileProject,
  remove: projectRemoval.remove,
}
