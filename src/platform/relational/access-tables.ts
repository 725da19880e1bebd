import type { ManagedBy } from '../../model/managed-by.ts'
import type {
  ByDefault,
  Instant,
  InstantByDefault,
  InstantOrNull,
  Json,
  JsonOrNull,
  OrNull,
} from './column-types.ts'

/**
 * The tables of migrations `0001_access`, `0016_operator`, `0023_emergency_revocations` and
 * `0024_installations`, for
 * `Kysely<AccessTables>`.
 */
export interface AccessTables {
  organizations: OrganizationsTable
  users: UsersTable
  organization_members: OrganizationMembersTable
  projects: ProjectsTable
  project_members: ProjectMembersTable
  service_accounts: ServiceAccountsTable
  api_keys: ApiKeysTable
  operator_keys: OperatorKeysTable
  access_emergencies: AccessEmergenciesTable
  signing_keys: SigningKeysTable
  refresh_tokens: RefreshTokensTable
  idempotency_keys: IdempotencyKeysTable
}

/** A tenant. Its name is unique in the installation. */
interface OrganizationsTable {
  id: string
  name: string
  created_at: InstantByDefault
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
}

/** A membership in an organization. */
interface OrganizationMembersTable {
  organization_id: string
  user_id: string
  role: 'owner' | 'admin' | 'member'
  created_at: InstantByDefault
}

/** A project of an organization. Keys, traces and tasks belong to a project. */
interface ProjectsTable {
  id: string
  organization_id: string
  name: string
  created_at: InstantByDefault
  archived_at: InstantOrNull
}

/** A membership in a project. Owners and admins of the organization need none. */
interface ProjectMembersTable {
  project_id: string
  user_id: string
  role: 'admin' | 'editor' | 'viewer'
  created_at: InstantByDefault
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

/** A key pair that signs access tokens. `id` is its `kid`. */
interface SigningKeysTable {
  id: string
  public_jwk: Json<Record<string, unknown>>
  private_key_encrypted: Buffer
  created_at: InstantByDefault
  activates_at: Instant
  retires_at: InstantOrNull
}

/** A refresh token. All tokens that were exchanged for one another share a `family_id`. */
interface RefreshTokensTable {
  id: string
  family_id: string
  user_id: string
  token_hash: Buffer
  created_at: InstantByDefault
  expires_at: Instant
  used_at: InstantOrNull
  revoked_at: InstantOrNull
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
