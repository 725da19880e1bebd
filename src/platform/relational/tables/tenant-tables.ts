import type { ManagedBy } from '../../../model/managed-by.ts'
import type {
  ByDefault,
  Instant,
  InstantByDefault,
  InstantOrNull,
  JsonOrNull,
  OrNull,
} from '../column-types.ts'

/** `make generate` writes this file from the schema; docs/reference/tables.md has its words. */
export interface TenantTables {
  access_emergencies: {
    id: string
    project_id: string
    service_account_id: OrNull<string>
    api_key_id: OrNull<string>
    action: 'revoke' | 'resume'
    actor: string
    reason: string
    occurred_at: Instant
  }
  api_keys: {
    id: string
    project_id: string
    service_account_id: OrNull<string>
    name: string
    prefix: string
    secret_hash: Buffer
    scopes: ByDefault<string[]>
    created_at: InstantByDefault
    created_by: OrNull<string>
    expires_at: InstantOrNull
    revoked_at: InstantOrNull
    last_used_at: InstantOrNull
    environment: OrNull<string>
    origins: OrNull<string[]>
    user_rate_per_minute: OrNull<number>
  }
  idempotency_keys: {
    scope_hash: Buffer
    request_hash: Buffer
    status: OrNull<number>
    reply: JsonOrNull<unknown>
    created_at: InstantByDefault
    expires_at: Instant
    tenant_id: ByDefault<string | null>
  }
  invitation_links: {
    id: string
    organization_id: string
    namespace_id: OrNull<string>
    email: string
    by_email: boolean
    created_at: Instant
  }
  invitation_projects: {
    invitation_id: string
    project_id: string
    role: 'admin' | 'editor' | 'viewer'
  }
  invitations: {
    id: string
    organization_id: string
    project_id: OrNull<string>
    email: string
    role: 'owner' | 'admin' | 'member'
    token_hash: Buffer
    by_email: boolean
    invited_by: OrNull<string>
    created_at: Instant
    expires_at: Instant
    accepted_at: InstantOrNull
    revoked_at: InstantOrNull
    managed_by: JsonOrNull<ManagedBy>
    delivered_at: InstantOrNull
    accepted_by: OrNull<string>
    released_at: InstantOrNull
  }
  operator_keys: {
    id: string
    prefix: string
    secret_hash: Buffer
    created_at: InstantByDefault
    revoked_at: InstantOrNull
    last_used_at: InstantOrNull
  }
  organization_members: {
    organization_id: string
    user_id: string
    role: 'owner' | 'admin' | 'member'
    created_at: InstantByDefault
    by_resource: ByDefault<boolean>
    by_group: ByDefault<boolean>
    version: ByDefault<number>
  }
  organizations: {
    id: string
    name: string
    created_at: InstantByDefault
    version: ByDefault<number>
    key_scopes: OrNull<string[]>
  }
  project_grants: {
    id: string
    installation_id: string
    project_id: string
    cluster: string
    name: string
    namespaces: string[]
    namespace_count: number
    selector: OrNull<string>
    kinds: string[]
    scopes: string[]
    roles: string[]
    max_keys: number
    revoke_after: string
    reported_at: Instant
  }
  project_members: {
    project_id: string
    user_id: string
    role: 'admin' | 'editor' | 'viewer'
    created_at: InstantByDefault
    by_resource: ByDefault<boolean>
    by_group: ByDefault<boolean>
    version: ByDefault<number>
  }
  projects: {
    id: string
    organization_id: string
    name: string
    created_at: InstantByDefault
    archived_at: InstantOrNull
    environments: OrNull<string[]>
    managed_by: JsonOrNull<ManagedBy>
    released_by: JsonOrNull<ManagedBy>
    version: ByDefault<number>
    key_scopes: OrNull<string[]>
    task_rules_off: ByDefault<string[]>
  }
  service_accounts: {
    id: string
    project_id: string
    name: string
    scopes: ByDefault<string[]>
    disabled_at: InstantOrNull
    created_at: InstantByDefault
    created_by: OrNull<string>
    managed_by: JsonOrNull<ManagedBy>
    released_from: JsonOrNull<ManagedBy>
    suspended_at: InstantOrNull
    suspended_by: OrNull<string>
    suspended_reason: OrNull<string>
    version: ByDefault<number>
  }
  users: {
    id: string
    email: string
    password_hash: OrNull<string>
    display_name: string
    disabled_at: InstantOrNull
    created_at: InstantByDefault
    email_verified_at: InstantOrNull
    identities_removed_at: InstantOrNull
    must_change_password: ByDefault<boolean>
    password_origin: OrNull<'self' | 'administrator' | 'installation'>
    session_number: ByDefault<number>
    installation_admin: ByDefault<boolean>
    default_project_id: OrNull<string>
  }
}
