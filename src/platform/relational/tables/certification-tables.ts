import type { ManagedBy } from '../../../model/managed-by.ts'
import type {
  ByDefault,
  Instant,
  InstantOrNull,
  Json,
  JsonOrNull,
  JsonRecord,
  OrNull,
} from '../column-types.ts'

/** `make generate` writes this file from the schema; docs/reference/tables.md has its words. */
export interface CertificationTables {
  certification_eval_cases: {
    run_id: string
    project_id: string
    case_id: string
    repeat: number
    cluster: OrNull<string>
    name: OrNull<string>
    passed: OrNull<boolean>
    score: OrNull<number>
    duration_ms: OrNull<number>
    cost_usd: OrNull<number>
  }
  certification_eval_runs: {
    id: string
    project_id: string
    name: string
    release_name: string
    release_version: string
    image_digest: OrNull<string>
    environment: string
    format: 'junit' | 'jsonl'
    digest: string
    cases: number
    passed: number
    failed: number
    skipped: number
    created_at: Instant
    created_by: string
  }
  certification_evidence: {
    certification_id: string
    project_id: string
    side: 'release' | 'baseline'
    source: 'tasks' | 'eval'
    page: number
    items: Json<readonly JsonRecord[]>
  }
  certification_keys: {
    key_id: string
    public_jwk: Json<Record<string, string>>
    private_key_encrypted: OrNull<Buffer>
    created_at: Instant
  }
  certification_plans: {
    project_id: string
    subject: string
    environment: string
    policy_id: string
    window_from: Instant
    release_tags: string[]
    baseline: JsonOrNull<JsonRecord>
    eval_run_ids: ByDefault<string[]>
    declared_at: Instant
  }
  certification_policies: {
    project_id: string
    id: string
    version: number
    digest: string
    document: Json<JsonRecord>
    managed_by: JsonOrNull<ManagedBy>
    created_at: Instant
    created_by: string
    updated_at: Instant
    updated_by: string
  }
  certification_policy_versions: {
    project_id: string
    id: string
    version: number
    digest: string
    document: Json<JsonRecord>
    updated_at: Instant
    updated_by: string
  }
  certification_subjects: {
    project_id: string
    subject: string
    attempts: ByDefault<number>
  }
  certifications: {
    id: string
    project_id: string
    policy_id: string
    policy_version: number
    policy_digest: string
    policy: Json<JsonRecord>
    release_name: string
    release_version: string
    release_tags: string[]
    image_digest: OrNull<string>
    subject: string
    environment: string
    window_from: Instant
    window_to: Instant
    baseline: JsonOrNull<JsonRecord>
    eval_run_ids: ByDefault<string[]>
    declared_at: Instant
    state: 'pending' | 'running' | 'ended' | 'cancelled' | 'failed'
    attempt: OrNull<number>
    job_id: OrNull<string>
    request_digest: string
    requested_by: string
    created_at: Instant
    started_at: InstantOrNull
    ended_at: InstantOrNull
    verdict: OrNull<'certified' | 'rejected' | 'inconclusive'>
    frozen: JsonOrNull<JsonRecord>
    predicate: JsonOrNull<JsonRecord>
    statement: OrNull<string>
    key_id: OrNull<string>
    expires_at: InstantOrNull
    evidence_salt: OrNull<Buffer>
    held_until: InstantOrNull
    error: OrNull<string>
  }
}
