import type { Route } from '../../platform/http/index.ts'
import type { Access } from './access.ts'
import { getJwks } from './auth/jwks.ts'
import { setPassword } from './auth/password.ts'
import { revokeToken } from './auth/revoke.ts'
import { createToken } from './auth/token.ts'
import { getOperatorKeys, removeOperatorKey } from './operator-keys/operator-keys.ts'
import { addMember, getMembers, removeMember } from './organizations/members/members.ts'
import { createOrganization, getOrganizations } from './organizations/organizations.ts'
import { createProject, getOrganizationProjects } from './organizations/projects.ts'
import { createApiKey, getApiKeys } from './projects/api-keys/api-keys.ts'
import { revokeApiKey } from './projects/api-keys/revoke.ts'
import { rotateApiKey } from './projects/api-keys/rotate.ts'
import { setApiKeyScopes } from './projects/api-keys/scopes.ts'
import {
  getProjectMembers,
  removeProjectMember,
  setProjectMember,
} from './projects/members/members.ts'
import { getProject, getProjects } from './projects/projects.ts'
import { disableServiceAccount } from './service-accounts/disable.ts'
import { enableServiceAccount } from './service-accounts/enable.ts'
import { createServiceAccountKey, getServiceAccountKeys } from './service-accounts/keys.ts'
import { resumeServiceAccount } from './service-accounts/resume.ts'
import {
  createServiceAccount,
  getServiceAccount,
  getServiceAccounts,
  putServiceAccount,
  removeServiceAccount,
} from './service-accounts/service-accounts.ts'

export { type Access, type AccessOptions, openAccess, openKeys } from './access.ts'
export { authorizer } from './authorizer.ts'
export { type BootstrapOptions, type BootstrapSecrets, bootstrap } from './bootstrap/bootstrap.ts'
export {
  GivenSecretRefused,
  type GivenSecrets,
  mintGivenSecrets,
} from './bootstrap/given-secrets.ts'
export type { KeyCache, KeyCacheLimits } from './keys/key-cache.ts'
export { isOperatorKey, type ProjectKey } from './keys/project-key.ts'
export { createPasswordHasher, type PasswordHasher } from './passwords/password-hasher.ts'

/** The routes of sign-in and of access control. */
export function accessRoutes(access: Access): Route[] {
  return factories.map((factory) => factory(access))
}

const factories: readonly ((access: Access) => Route)[] = [
  createToken,
  revokeToken,
  setPassword,
  getJwks,
  getOrganizations,
  createOrganization,
  getMembers,
  addMember,
  removeMember,
  getOrganizationProjects,
  createProject,
  getProjects,
  getProject,
  getProjectMembers,
  setProjectMember,
  removeProjectMember,
  getApiKeys,
  createApiKey,
  revokeApiKey,
  rotateApiKey,
  setApiKeyScopes,
  getServiceAccounts,
  createServiceAccount,
  getServiceAccount,
  putServiceAccount,
  removeServiceAccount,
  disableServiceAccount,
  enableServiceAccount,
  resumeServiceAccount,
  getServiceAccountKeys,
  createServiceAccountKey,
  getOperatorKeys,
  removeOperatorKey,
]
