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

/** The tables of migrations `0001_access` and `0016_operator`, for `Kysely<AccessTables>`. */
export interface AccessTables {
  organizations: OrganizationsTable
  users: UsersTable
  organization_members: OrganizationMembersTable
  projects: ProjectsTable
  project_members: ProjectMembersTable
  service_accounts: ServiceAccountsTable
  api_keys: ApiKeysTable
  operator_keys: OperatorKeysTable
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

/** A person. `email` is lower case (the table refuses anything else). */
interface UsersTable {
  id: string
  email: string
  /** Null for a user of an external issuer, who has no password here. */
  password_hash: OrNull<string>
  display_name: string
  disabled_at: InstantOrNull
  created_at: InstantByDefault
}

/** Who belongs to an organization, and as what. */
interface OrganizationMembersTable {
  organization_id: string
  user_id: string
  role: 'owner' | 'admin' | 'member'
  created_at: InstantByDefault
}

/** A project of an organization: what keys, traces and tasks belong to. */
interface ProjectsTable {
  id: string
  organization_id: string
  name: string
  created_at: InstantByDefault
  archived_at: InstantOrNull
}

/** Who may do what in a project, beside the organization's owners and admins. */
interface ProjectMembersTable {
  project_id: string
  user_id: string
  role: 'admin' | 'editor' | 'viewer'
  created_at: InstantByDefault
}

/** An identity for a machine; it acts by its scopes and has no role. */
interface ServiceAccountsTable {
  id: string
  project_id: string
  name: string
  scopes: ByDefault<string[]>
  disabled_at: InstantOrNull
  created_at: InstantByDefault
  /** The user who made it; null when the installation did. */
  created_by: OrNull<string>
  /** The custom resource that declares it; nobody else may change it. */
  managed_by: JsonOrNull<ManagedBy>
}

/** A project's key, or a service account's when `service_account_id` is set. */
interface ApiKeysTable {
  id: string
  project_id: string
  service_account_id: OrNull<string>
  name: string
  /** The public part a key is looked up by. */
  prefix: string
  /** SHA-256 of the whole key, 32 bytes; the key itself is stored nowhere. */
  secret_hash: Buffer
  scopes: ByDefault<string[]>
  created_at: InstantByDefault
  created_by: OrNull<string>
  expires_at: InstantOrNull
  revoked_at: InstantOrNull
  last_used_at: InstantOrNull
  /** Of what comes in with the key, where nothing else names one. */
  environment: OrNull<string>
}

/** The key of a cluster's operator, which belongs to no project. */
interface OperatorKeysTable {
  id: string
  /** The public part a key is looked up by. */
  prefix: string
  /** SHA-256 of the whole key, 32 bytes; the key itself is stored nowhere. */
  secret_hash: Buffer
  created_at: InstantByDefault
  revoked_at: InstantOrNull
  last_used_at: InstantOrNull
}

/** A key pair that signs access tokens; `id` is its `kid`. */
interface SigningKeysTable {
  id: string
  public_jwk: Json<Record<string, unknown>>
  private_key_encrypted: Buffer
  created_at: InstantByDefault
  activates_at: Instant
  retires_at: InstantOrNull
}

/** A refresh token; those that followed one another share `family_id`. */
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

/** What a write with `Idempotency-Key` answered; `status` is null while it is under way. */
interface IdempotencyKeysTable {
  scope_hash: Buffer
  request_hash: Buffer
  status: OrNull<number>
  reply: JsonOrNull<unknown>
  created_at: InstantByDefault
  expires_at: Instant
}
