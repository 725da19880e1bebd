/** What a key may be allowed to do. A key has a list of these; a person has a role instead. */
export const keyScopes = [
  'proxy:write',
  'ingest:write',
  'traces:read',
  'tasks:read',
  'tasks:write',
  'feedback:write',
  'query:run',
  'verification:run',
  'incidents:read',
  'incidents:write',
  'retention:write',
  'access:read',
  'certification:run',
] as const
export type KeyScope = (typeof keyScopes)[number]

/** What a project key gets when its maker names no scopes. */
export const defaultKeyScopes: readonly KeyScope[] = [
  'proxy:write',
  'ingest:write',
  'tasks:read',
  'tasks:write',
  'feedback:write',
  'traces:read',
]

/** Roles in a project, weakest first; each one may do what those before it may. */
export const projectRoles = ['viewer', 'editor', 'admin'] as const
export type ProjectRole = (typeof projectRoles)[number]

/** Roles in an organization, weakest first. Its owner and admin are admin in its projects. */
export const organizationRoles = ['member', 'admin', 'owner'] as const
export type OrganizationRole = (typeof organizationRoles)[number]
