import type {
  ByDefault,
  Computed,
  Instant,
  InstantOrNull,
  Json,
  JsonOrNull,
  JsonRecord,
  OrNull,
} from '../column-types.ts'

/** `make generate` writes this file from the schema; docs/reference/tables.md has its words. */
export interface VerificationTables {
  kb_chunks: {
    id: Computed<number>
    project_id: string
    document_id: string
    version: number
    position: number
    text: string
    context: string
    starts_at: number
    ends_at: number
    terms: number
    digest: string
  }
  kb_document_versions: {
    document_id: string
    version: number
    format: 'text' | 'markdown' | 'html' | 'json'
    source: string
    digest: string
    bytes: number
    created_at: Instant
    created_by: string
  }
  kb_documents: {
    id: string
    project_id: string
    name: string
    title: string
    format: 'text' | 'markdown' | 'html' | 'json'
    url: OrNull<string>
    version: number
    digest: string
    bytes: number
    chunks: number
    created_at: Instant
    updated_at: Instant
    updated_by: string
  }
  kb_embeddings: {
    chunk_id: number
    model: string
    vector: number[]
  }
  kb_facts: {
    id: string
    project_id: string
    subject: string
    attribute: string
    value: string
    unit: ByDefault<string>
    source: ByDefault<string>
    created_at: Instant
    updated_at: Instant
    updated_by: string
  }
  kb_stats: {
    project_id: string
    documents: ByDefault<number>
    chunks: ByDefault<number>
    terms: ByDefault<number>
    bytes: ByDefault<number>
    facts: ByDefault<number>
  }
  kb_terms: {
    project_id: string
    term: string
    chunk_id: number
    tf: number
    terms: number
  }
  verification_calibrations: {
    project_id: string
    verifier: string
    version: number
    calibration: Json<JsonRecord>
    brier: OrNull<number>
    ece: OrNull<number>
    created_at: Instant
  }
  verification_calls: {
    id: string
    run_id: string
    project_id: string
    key: string
    verifier: string
    model: string
    outcome: string
    reply: JsonOrNull<JsonRecord>
    input_tokens: OrNull<number>
    output_tokens: OrNull<number>
    nano_dollars: number
    duration_ms: OrNull<number>
    created_at: Instant
  }
  verification_claim_labels: {
    project_id: string
    task_id: string
    reviewer: string
    trace_id: string
    claim_digest: string
    claim_id: string
    verdict: 'supported' | 'contradicted'
    reason: OrNull<string>
    machine: Json<readonly JsonRecord[]>
    trace_start: Instant
    created_at: Instant
  }
  verification_claims: {
    id: string
    run_id: string
    project_id: string
    trace_id: string
    position: number
    text: string
    starts_at: number
    ends_at: number
    kind: string
    digest: string
    verdict: string
    probability: OrNull<number>
    weight: number
    results: Json<readonly JsonRecord[]>
    checked_values: Json<readonly JsonRecord[]>
  }
  verification_overrides: {
    project_id: string
    trace_id: string
    claim_digest: string
    verdict: 'supported' | 'contradicted'
    reason: string
    machine: Json<readonly JsonRecord[]>
    trace_start: Instant
    created_at: Instant
    created_by: string
  }
  verification_policies: {
    project_id: string
    policy: Json<JsonRecord>
    version: number
    updated_at: Instant
    updated_by: string
  }
  verification_runs: {
    id: string
    project_id: string
    trace_id: string
    task_id: OrNull<string>
    user_id: OrNull<string>
    environment: OrNull<string>
    trace_start: Instant
    state: 'pending' | 'verified' | 'failed' | 'cancelled'
    trigger: 'request' | 'task' | 'policy'
    requested_by: string
    verifiers: Json<readonly { name: string; options: JsonRecord }[]>
    job_id: OrNull<string>
    answer_observation_id: OrNull<string>
    answer_digest: OrNull<string>
    answer_chars: OrNull<number>
    context: JsonOrNull<JsonRecord>
    trust_score: OrNull<number>
    trust: JsonOrNull<JsonRecord>
    claims: ByDefault<number>
    counts: JsonOrNull<Record<string, number>>
    values_checked: ByDefault<number>
    verifier_runs: JsonOrNull<readonly JsonRecord[]>
    cost_nano_dollars: ByDefault<number>
    tokens: ByDefault<number>
    error: JsonOrNull<{ code: string; message: string }>
    created_at: Instant
    started_at: InstantOrNull
    ended_at: InstantOrNull
  }
  verification_spend: {
    project_id: string
    day: string
    nano_dollars: string | bigint
  }
}
