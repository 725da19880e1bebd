/** Scopes of keys. A key has a list of scopes; a person has a role instead. */
export const keyScopes = [
  'proxy:write',
  'proxy:provider_key',
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

/** Scopes of a project key that is created without scopes. */
export const defaultKeyScopes: readonly KeyScope[] = [
  'proxy:write',
  'ingest:write',
  'tasks:read',
  'tasks:write',
  'feedback:write',
  'traces:read',
]

/** Scopes of the key of the first start, which also tries out the rules of incidents. */
export const firstKeyScopes: readonly KeyScope[] = [...defaultKeyScopes, 'incidents:read']

/** Roles in a project, weakest first. Each role includes the permissions of the roles before it. */
export const projectRoles = ['viewer', 'editor', 'admin'] as const
export type ProjectRole = (typeof projectRoles)[number]

/** Roles in an organization, weakest first. `owner` and `admin` are `admin` in its projects. */
export const organizationRoles = ['member', 'admin', 'owner'] as const
export type OrganizationRole = (typeof organizationRoles)[number]
