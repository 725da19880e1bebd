import type { Route } from '../../platform/http/index.ts'
import type { Access } from './access.ts'
import { getJwks, getSignIn, putDefaultProject, revokeToken } from './auth/auth.ts'
import { acceptLinkedInvitation, lookUpInvitation } from './auth/invitations.ts'
import { finishIssuerSignIn, startIssuerSignIn } from './auth/oidc.ts'
import { setPassword } from './auth/password.ts'
import { confirmPasswordReset, requestPasswordReset } from './auth/password-reset/password-reset.ts'
import { endAllSessions, endSession, getSession, startSession } from './auth/session.ts'
import { createToken } from './auth/token.ts'
import { getProjectGrants, putInstallationGrants } from './installations/grants.ts'
import { getInstallationAccounts } from './installations/service-accounts.ts'
import { getOperatorKeys, removeOperatorKey } from './operator-keys/operator-keys.ts'
import {
  getInvitations,
  resendInvitation,
  revokeInvitation,
} from './organizations/invitations/invitations.ts'
import {
  addMember,
  getMember,
  getMembers,
  putMember,
  removeMember,
} from './organizations/members/members.ts'
import {
  getOrganization,
  leaveOrganization,
  putOrganization,
  removeOrganization,
} from './organizations/organization.ts'
import {
  createOrganization,
  createProject,
  getOrganizationProjects,
  getOrganizations,
} from './organizations/organizations.ts'
import {
  getApiKey,
  revokeApiKey,
  rotateApiKey,
  setApiKeyScopes,
} from './projects/api-keys/api-key.ts'
import { createApiKey, getApiKeys } from './projects/api-keys/api-keys.ts'
import {
  getDeclaredMember,
  putDeclaredMember,
  removeDeclaredMember,
} from './projects/declared-members/declared-members.ts'
import {
  getProjectMember,
  getProjectMembers,
  inviteProjectMember,
  removeProjectMember,
  setProjectMember,
} from './projects/members/members.ts'
import {
  archiveProject,
  putProjectEnvironments,
  putProjectSettings,
  putProjectTaskRules,
  unarchiveProject,
} from './projects/project.ts'
import { getProject, getProjects, putProject, removeProject } from './projects/projects.ts'
import {
  createServiceAccountKey,
  disableServiceAccount,
  enableServiceAccount,
  getServiceAccountKeys,
  resumeServiceAccount,
} from './service-accounts/service-account.ts'
import {
  createServiceAccount,
  getServiceAccount,
  getServiceAccounts,
  putServiceAccount,
  removeServiceAccount,
} from './service-accounts/service-accounts.ts'
import { getUserIdentities, unlinkUserIdentities } from './users/identities.ts'
import {
  createPasswordReset,
  disableUser,
  enableUser,
  endUserSessions,
  getUser,
  putAdministrator,
  setUserPassword,
} from './users/user.ts'
import { createUser, getUsers } from './users/users.ts'

export { type Access, type AccessOptions, openAccess } from './access.ts'
export { createPasswordResets } from './auth/password-reset/password-resets.ts'
export { findLogin } from './auth/store.ts'
export { authorizer } from './authorizer.ts'
export { type BootstrapSecrets, bootstrap } from './bootstrap/bootstrap.ts'
export {
  GivenSecretRefused,
  mintGivenSecrets,
} from './bootstrap/given-secrets.ts'

export type { KeyCache } from './keys/key-cache.ts'
export { openKeys } from './keys/open-keys.ts'

export type { ProjectKey } from './keys/project-key.ts'
export { IssuerMisconfigured } from './oidc/open-issuer.ts'
export { createPasswordHasher } from './passwords/password-hasher.ts'
export { createPasswordStrength } from './passwords/password-strength.ts'
export { findProjectMembers } from './roles/store.ts'
export { declaredBy, declaredByParameter, getDeclarer } from './service-accounts/declaration.ts'
export type { FirstLinks } from './sessions/first-link.ts'
export { mayReadSigningKeys } from './tokens/signing-keys.ts'
export { isInstallationAdmin } from './users/store.ts'

/** The routes of sign-in and of access control. */
export function accessRoutes(access: Access): Route[] {
  return [...factories.map((factory) => factory(access))]
}

const factories: readonly ((access: Access) => Route)[] = [
  createToken,
  revokeToken,
  startSession,
  getSession,
  getSignIn,
  endSession,
  endAllSessions,
  startIssuerSignIn,
  finishIssuerSignIn,
  setPassword,
  requestPasswordReset,
  confirmPasswordReset,
  createPasswordReset,
  putDefaultProject,
  lookUpInvitation,
  acceptLinkedInvitation,
  getJwks,
  getOrganizations,
  createOrganization,
  getOrganization,
  putOrganization,
  removeOrganization,
  leaveOrganization,
  getMembers,
  addMember,
  getMember,
  putMember,
  removeMember,
  getInvitations,
  revokeInvitation,
  resendInvitation,
  getOrganizationProjects,
  createProject,
  getProjects,
  getProject,
  putProject,
  removeProject,
  putProjectEnvironments,
  putProjectTaskRules,
  putProjectSettings,
  archiveProject,
  unarchiveProject,
  getProjectMembers,
  getProjectMember,
  setProjectMember,
  inviteProjectMember,
  removeProjectMember,
  getDeclaredMember,
  putDeclaredMember,
  removeDeclaredMember,
  getApiKeys,
  getApiKey,
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
  getInstallationAccounts,
  putInstallationGrants,
  getProjectGrants,
  getOperatorKeys,
  removeOperatorKey,
  getUsers,
  getUser,
  createUser,
  setUserPassword,
  disableUser,
  enableUser,
  endUserSessions,
  getUserIdentities,
  unlinkUserIdentities,
  putAdministrator,
]
