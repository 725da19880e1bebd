import type { ManagedBy } from '../../model/managed-by.ts'
import type {
  ByDefault,
  Instant,
  InstantByDefault,
  InstantOrNull,
  JsonOrNull,
  OrNull,
} from './column-types.ts'
import type { SignInTables } from './sign-in-tables.ts'

/** The tables of sign-in and access control, for `Kysely<AccessTables>`. */
export interface AccessTables extends SignInTables {
  organizations: OrganizationsTable
  users: UsersTable
  organization_members: OrganizationMembersTable
  projects: ProjectsTable
  project_members: ProjectMembersTable
  invitations: InvitationsTable
  invitation_projects: InvitationProjectsTable
  invitation_links: InvitationLinksTable
  service_accounts: ServiceAccountsTable
  api_keys: ApiKeysTable
  operator_keys: OperatorKeysTable
  access_emergencies: AccessEmergenciesTable
  idempotency_keys: IdempotencyKeysTable
}

/** A tenant. Its name is unique in the installation. */
interface OrganizationsTable {
  id: string
  name: string
  created_at: InstantByDefault
  /** Changes of the row, counted by the store. */
  version: ByDefault<number>
  /** Scopes that keys may have; null sets no limit. */
  key_scopes: OrNull<string[]>
}

/** A person. `email` is lower case (enforced by the table). */
interface UsersTable {
  id: string
  email: string
  /** Null for a user of an external issuer. */
  password_hash: OrNull<string>
  display_name: string
  disabled_at: InstantOrNull
  created_at: InstantByDefault
  /** When the e-mail address was verified; null if it is not verified. */
  email_verified_at: InstantOrNull
  /** When an administrator removed the links to subjects of issuers. */
  identities_removed_at: InstantOrNull
  must_change_password: ByDefault<boolean>
  /** Who chose the password; null without one. `legacy`: unknown. */
  password_origin: OrNull<PasswordOrigin>
  /** Access tokens with an earlier number are invalid. */
  session_number: ByDefault<number>
  installation_admin: ByDefault<boolean>
  /** The user's default project, for calls that name no project. */
  default_project_id: OrNull<string>
}

/** Who chose a password. `legacy`: unknown, because it is older than invitations. */
export type PasswordOrigin = 'self' | 'administrator' | 'installation' | 'legacy'

/** A membership in an organization. */
interface OrganizationMembersTable {
  organization_id: string
  user_id: string
  role: 'owner' | 'admin' | 'member'
  created_at: InstantByDefault
  /** Whether it comes from custom resources only, and ends with the last of them. */
  by_resource: ByDefault<boolean>
  /** Whether it comes from groups of the external issuer only, and ends with them. */
  by_group: ByDefault<boolean>
  /** Changes of the row, counted by the store. */
  version: ByDefault<number>
}

/** A project of an organization. Keys, traces and tasks belong to a project. */
interface ProjectsTable {
  id: string
  organization_id: string
  name: string
  created_at: InstantByDefault
  archived_at: InstantOrNull
  /** Names that the environment of a new key can have; null allows any name. */
  environments: OrNull<string[]>
  /** The custom resource that declares it. */
  managed_by: JsonOrNull<ManagedBy>
  /** The custom resource that declared it last. */
  released_by: JsonOrNull<ManagedBy>
  /** Changes of the row, counted by the store. */
  version: ByDefault<number>
  /** Scopes that keys may have; null sets no limit. */
  key_scopes: OrNull<string[]>
  /** Rules for sessions and tasks that are switched off. */
  task_rules_off: ByDefault<string[]>
}

/** A membership in a project. Owners and admins of the organization need none. */
interface ProjectMembersTable {
  project_id: string
  user_id: string
  role: 'admin' | 'editor' | 'viewer'
  created_at: InstantByDefault
  /** Whether it comes from custom resources only, and ends with the last of them. */
  by_resource: ByDefault<boolean>
  /** Whether it comes from groups of the external issuer only, and ends with them. */
  by_group: ByDefault<boolean>
  /** Changes of the row, counted by the store. */
  version: ByDefault<number>
}

/** An invitation to an organization, or to one project of it. */
interface InvitationsTable {
  id: string
  organization_id: string
  /** Set when an admin of this project invited. */
  project_id: OrNull<string>
  /** Lower case (enforced by the table). */
  email: string
  role: 'owner' | 'admin' | 'member'
  /** SHA-256 of the link's token, 32 bytes. The token itself is not stored. */
  token_hash: Buffer
  /** Whether the link was sent only by mail, so that its use verifies the address. */
  by_email: boolean
  invited_by: OrNull<string>
  created_at: Instant
  expires_at: Instant
  accepted_at: InstantOrNull
  revoked_at: InstantOrNull
  /** The custom resource that declares the member; such an invitation has no inviter. */
  managed_by: JsonOrNull<ManagedBy>
  /** When the link of a declared member was sent; null while no mail server is configured. */
  delivered_at: InstantOrNull
  /** The person who accepted the invitation of a declared member. */
  accepted_by: OrNull<string>
  /** When its resource was deleted with `Retain`, which keeps the role. */
  released_at: InstantOrNull
}

/** A project role that an invitation grants. */
interface InvitationProjectsTable {
  invitation_id: string
  project_id: string
  role: 'admin' | 'editor' | 'viewer'
}

/** A link of the last day, for the limits per organization and per address. */
interface InvitationLinksTable {
  id: string
  organization_id: string
  /** Derived from the project and the namespace of the resource; null for a person's invitation. */
  namespace_id: OrNull<string>
  email: string
  by_email: boolean
  created_at: Instant
}

/** An identity for a program. It has scopes and no role. */
interface ServiceAccountsTable {
  id: string
  project_id: string
  name: string
  scopes: ByDefault<string[]>
  disabled_at: InstantOrNull
  created_at: InstantByDefault
  /** The creating user; null when the installation created it. */
  created_by: OrNull<string>
  /** The custom resource that manages it; only that resource may change it. */
  managed_by: JsonOrNull<ManagedBy>
  /** The custom resource that released it; the same resource of the same installation adopts it. */
  released_from: JsonOrNull<ManagedBy>
  /** Set by an emergency revocation of one of its keys, with the user and the reason. */
  suspended_at: InstantOrNull
  suspended_by: OrNull<string>
  suspended_reason: OrNull<string>
  /** Changes of the row, counted by the store. */
  version: ByDefault<number>
}

/** A record of an emergency revocation, or of the resumption of a suspended account. */
interface AccessEmergenciesTable {
  id: string
  project_id: string
  service_account_id: OrNull<string>
  api_key_id: OrNull<string>
  action: 'revoke' | 'resume'
  /** A user's id, or `Kind/namespace/name` of the resource for which an operator called. */
  actor: string
  reason: string
  occurred_at: Instant
}

/** A key of a project, or of a service account if `service_account_id` is set. */
interface ApiKeysTable {
  id: string
  project_id: string
  service_account_id: OrNull<string>
  name: string
  /** The public part, for look-ups. */
  prefix: string
  /** SHA-256 of the whole key, 32 bytes. The key itself is not stored. */
  secret_hash: Buffer
  scopes: ByDefault<string[]>
  created_at: InstantByDefault
  created_by: OrNull<string>
  expires_at: InstantOrNull
  revoked_at: InstantOrNull
  last_used_at: InstantOrNull
  /** Environment of records that are sent with the key and name none. */
  environment: OrNull<string>
  /** Origins of the pages that may use the key. Set for browser keys only. */
  origins: OrNull<string[]>
  /** Calls per minute of each end user. Set for browser keys only. */
  user_rate_per_minute: OrNull<number>
}

/** The key of a Kubernetes operator. It belongs to no project. */
interface OperatorKeysTable {
  id: string
  /** The public part, for look-ups. */
  prefix: string
  /** SHA-256 of the whole key, 32 bytes. The key itself is not stored. */
  secret_hash: Buffer
  created_at: InstantByDefault
  revoked_at: InstantOrNull
  last_used_at: InstantOrNull
}

/** The kept reply of a call with `Idempotency-Key`. `status` is null while the call runs. */
interface IdempotencyKeysTable {
  scope_hash: Buffer
  request_hash: Buffer
  status: OrNull<number>
  reply: JsonOrNull<unknown>
  created_at: InstantByDefault
  expires_at: Instant
}
