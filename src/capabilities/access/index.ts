import type { Route } from '../../platform/http/index.ts'
import type { Access } from './access.ts'
import { putDefaultProject } from './auth/default-project.ts'
import { acceptLinkedInvitation } from './auth/invitations/accept.ts'
import { lookUpInvitation } from './auth/invitations/lookup.ts'
import { getJwks } from './auth/jwks.ts'
import { finishIssuerSignIn } from './auth/oidc/callback.ts'
import { startIssuerSignIn } from './auth/oidc/login.ts'
import { setPassword } from './auth/password.ts'
import { confirmPasswordReset } from './auth/password-reset/confirm.ts'
import { requestPasswordReset } from './auth/password-reset/password-reset.ts'
import { revokeToken } from './auth/revoke.ts'
import { endSession, getSession, startSession } from './auth/session.ts'
import { endAllSessions } from './auth/sessions.ts'
import { getSignIn } from './auth/sign-in.ts'
import { createToken } from './auth/token.ts'
import { getProjectGrants, putInstallationGrants } from './installations/grants.ts'
import { getInstallationAccounts } from './installations/service-accounts.ts'
import { getOperatorKeys, removeOperatorKey } from './operator-keys/operator-keys.ts'
import { getInvitations, revokeInvitation } from './organizations/invitations/invitations.ts'
import { resendInvitation } from './organizations/invitations/resend.ts'
import { leaveOrganization } from './organizations/leave.ts'
import { getMember, putMember, removeMember } from './organizations/members/member.ts'
import { addMember, getMembers } from './organizations/members/members.ts'
import {
  getOrganization,
  putOrganization,
  removeOrganization,
} from './organizations/organization.ts'
import { createOrganization, getOrganizations } from './organizations/organizations.ts'
import { createProject, getOrganizationProjects } from './organizations/projects.ts'
import { getApiKey } from './projects/api-keys/api-key.ts'
import { createApiKey, getApiKeys } from './projects/api-keys/api-keys.ts'
import { revokeApiKey } from './projects/api-keys/revoke.ts'
import { rotateApiKey } from './projects/api-keys/rotate.ts'
import { setApiKeyScopes } from './projects/api-keys/scopes.ts'
import { archiveProject } from './projects/archive.ts'
import {
  getDeclaredMember,
  putDeclaredMember,
  removeDeclaredMember,
} from './projects/declared-members/declared-members.ts'
import { putProjectEnvironments } from './projects/environments.ts'
import {
  getProjectMember,
  getProjectMembers,
  inviteProjectMember,
  removeProjectMember,
  setProjectMember,
} from './projects/members/members.ts'
import { getProject, getProjects, putProject, removeProject } from './projects/projects.ts'
import { putProjectSettings } from './projects/settings.ts'
import { putProjectTaskRules } from './projects/task-rules.ts'
import { unarchiveProject } from './projects/unarchive.ts'
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
import { putAdministrator } from './users/administrator.ts'
import { disableUser } from './users/disable.ts'
import { enableUser } from './users/enable.ts'
import { getUserIdentities, unlinkUserIdentities } from './users/identities.ts'
import { setUserPassword } from './users/password.ts'
import { createPasswordReset } from './users/password-reset.ts'
import { endUserSessions } from './users/sessions.ts'
import { getUser } from './users/user.ts'
import { createUser, getUsers } from './users/users.ts'

export { type Access, type AccessOptions, openAccess, openKeys } from './access.ts'
export { createPasswordResets } from './auth/password-reset/password-resets.ts'
export { findLogin } from './auth/store.ts'
export { authorizer } from './authorizer.ts'
export { type BootstrapOptions, type BootstrapSecrets, bootstrap } from './bootstrap/bootstrap.ts'
export {
  GivenSecretRefused,
  type GivenSecrets,
  mintGivenSecrets,
} from './bootstrap/given-secrets.ts'
export type { KeyCache, KeyCacheLimits } from './keys/key-cache.ts'
export type { ProjectKey } from './keys/project-key.ts'
export { IssuerMisconfigured } from './oidc/open-issuer.ts'
export { createPasswordHasher, type PasswordHasher } from './passwords/password-hasher.ts'
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
