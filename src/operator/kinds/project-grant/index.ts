import { type Kind, projectIdColumn } from '../../contract.ts'
import { grantFaults, reconcileGrant, toGrant } from './reconcile.ts'
import {
  type ProjectGrantSpec,
  type ProjectGrantStatus,
  projectGrantSpec,
  projectGrantStatus,
} from './spec.ts'

/** The kind of grants: which namespaces may name a project. */
export const projectGrantKind: Kind<ProjectGrantSpec, ProjectGrantStatus> = {
  kind: 'ProjectGrant',
  plural: 'projectgrants',
  singular: 'projectgrant',
  short_names: ['grant'],
  scope: 'Cluster',
  description:
    'Lets resources in some namespaces name a project, with some kinds and up to some scopes, roles and keys. Without a grant no resource may name a project.',
  spec: projectGrantSpec,
  status: projectGrantStatus,
  rules: [],
  columns: [
    {
      name: 'Organization',
      type: 'string',
      path: '.spec.project.organization',
      description: 'Name of the organization; empty for a grant by id.',
    },
    {
      name: 'Project',
      type: 'string',
      path: '.spec.project.name',
      description: 'Name of the project; empty for a grant by id.',
    },
    projectIdColumn,
    {
      name: 'Namespaces',
      type: 'integer',
      path: '.status.namespaces',
      description: 'Number of namespaces that may name the project.',
    },
  ],
  reasons: {
    UnknownKind:
      'kinds has a name that no kind of this operator has, or a kind that uses no project. The other kinds are granted.',
    NamespacesUnknown: 'The labels of namespaces were not read yet. The operator retries.',
  },
  temporary_reasons: ['NamespacesUnknown'],
  example: {
    metadata: { name: 'team-a-checkout' },
    spec: {
      project: { organization: 'default', name: 'checkout' },
      namespaces: { names: ['team-a'] },
      kinds: [
        'Project',
        'ProjectMember',
        'LooptraceServiceAccount',
        'RetentionPolicy',
        'IncidentRule',
        'NotificationChannel',
        'ReleasePolicy',
      ],
      roles: ['viewer', 'editor'],
      scopes: ['proxy:write', 'ingest:write', 'tasks:read', 'tasks:write'],
      maxKeys: 8,
      revokeAfter: '1h',
    },
  },
  faultsAmong: grantFaults,
  toGrant,
  reconcile: reconcileGrant,
}
