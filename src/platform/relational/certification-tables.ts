import type {
  ByDefault,
  CountByDefault,
  Instant,
  InstantOrNull,
  Json,
  JsonOrNull,
  OrNull,
} from './column-types.ts'

/** The tables of migration `0030_certification`, for `Kysely<CertificationTables>`. */
export interface CertificationTables {
  certification_policies: CertificationPoliciesTable
  certification_policy_versions: CertificationPolicyVersionsTable
  certification_eval_runs: EvalRunsTable
  certification_eval_cases: EvalCasesTable
  certification_subjects: { project_id: string; subject: string; attempts: CountByDefault }
  certification_plans: CertificationPlansTable
  certifications: CertificationsTable
  certification_evidence: CertificationEvidenceTable
  certification_keys: CertificationKeysTable
}

type JsonRecord = Record<string, unknown>

/** A policy; its content is in the row of its version. */
interface CertificationPoliciesTable {
  project_id: string
  policy_id: string
  /** The current version, from 1. */
  version: number
  managed_by: JsonOrNull<Record<string, string>>
  created_at: Instant
  created_by: string
  updated_at: Instant
  updated_by: string
  deleted_at: InstantOrNull
}

/** A version of a policy, which never changes. */
interface CertificationPolicyVersionsTable {
  project_id: string
  policy_id: string
  version: number
  /** SHA-256 of the canonical JSON of `document`, in hexadecimal. */
  digest: string
  /** A `PolicyDocument`, without its digest. */
  document: Json<JsonRecord>
  created_at: Instant
  created_by: string
}

/** An uploaded eval run of a release. */
interface EvalRunsTable {
  id: string
  project_id: string
  name: string
  release_name: string
  release_version: string
  /** 64 hex digits. */
  image_digest: OrNull<string>
  environment: string
  format: 'junit' | 'jsonl'
  /** `digestEvalCases` of its cases. */
  digest: string
  cases: number
  passed: number
  failed: number
  skipped: number
  created_at: Instant
  created_by: string
}

/** An `EvalCase` of an eval run. It is deleted with the run. */
interface EvalCasesTable {
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

/** The declaration of the first certification of a release by a policy. */
interface CertificationPlansTable {
  project_id: string
  /** Digest of the image, or SHA-256 of `name@version`, in hexadecimal. */
  subject: string
  environment: string
  policy_id: string
  window_from: Instant
  /** Releases of the tasks. */
  release_tags: string[]
  baseline: JsonOrNull<JsonRecord>
  eval_run_ids: ByDefault<string[]>
  declared_at: Instant
}

/** One look at the evidence of a release. */
interface CertificationsTable {
  id: string
  project_id: string
  policy_id: string
  policy_version: number
  policy_digest: string
  /** The `PolicyDocument` of the version. */
  policy: Json<JsonRecord>
  release_name: string
  release_version: string
  /** Releases of the tasks. */
  release_tags: string[]
  image_digest: OrNull<string>
  subject: string
  environment: string
  window_from: Instant
  window_to: Instant
  baseline: JsonOrNull<JsonRecord>
  eval_run_ids: ByDefault<string[]>
  /** When the plan was declared. */
  declared_at: Instant
  state: 'pending' | 'running' | 'ended' | 'cancelled' | 'failed'
  /** Which look at the release it is, from 1; null until it reads evidence. */
  attempt: OrNull<number>
  job_id: OrNull<string>
  /** SHA-256 of the request, in hexadecimal. */
  request_digest: string
  requested_by: string
  created_at: Instant
  started_at: InstantOrNull
  ended_at: InstantOrNull
  verdict: OrNull<'certified' | 'rejected' | 'inconclusive'>
  /** The `Frozen` findings, with their time. */
  frozen: JsonOrNull<JsonRecord>
  predicate: JsonOrNull<JsonRecord>
  /** The DSSE envelope as JSON text. */
  statement: OrNull<string>
  key_id: OrNull<string>
  expires_at: InstantOrNull
  evidence_salt: OrNull<Buffer>
  /** Until when its evidence is kept; null without evidence. */
  held_until: InstantOrNull
  error: OrNull<string>
}

/** A page of the evidence of a certification. */
interface CertificationEvidenceTable {
  certification_id: string
  project_id: string
  side: 'release' | 'baseline'
  source: 'tasks' | 'eval'
  /** From 0. */
  page: number
  items: Json<readonly JsonRecord[]>
}

/** A key that signed statements. */
interface CertificationKeysTable {
  /** SHA-256 of the SPKI, in hexadecimal. */
  key_id: string
  public_jwk: Json<Record<string, string>>
  private_key_encrypted: OrNull<Buffer>
  created_at: Instant
}
