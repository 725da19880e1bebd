import type {
  ByDefault,
  CountByDefault,
  Instant,
  InstantOrNull,
  Json,
  JsonOrNull,
  OrNull,
} from './column-types.ts'

/** The tables of verification, for `Kysely<VerificationTables>`. */
export interface VerificationTables {
  verification_runs: VerificationRunsTable
  verification_claims: VerificationClaimsTable
  verification_overrides: VerificationOverridesTable
  verification_claim_labels: VerificationClaimLabelsTable
  verification_calls: VerificationCallsTable
  verification_spend: { project_id: string; day: string; nano_dollars: string | bigint }
  verification_calibrations: VerificationCalibrationsTable
  verification_policies: VerificationPoliciesTable
  kb_documents: KbDocumentsTable
  kb_document_versions: KbDocumentVersionsTable
  kb_chunks: KbChunksTable
  kb_terms: KbTermsTable
  kb_stats: KbStatsTable
  kb_embeddings: { chunk_id: number; model: string; vector: number[] }
  kb_facts: KbFactsTable
}

type JsonRecord = Record<string, unknown>

/** A verification of the answer of one trace. */
interface VerificationRunsTable {
  id: string
  project_id: string
  trace_id: string
  task_id: OrNull<string>
  user_id: OrNull<string>
  environment: OrNull<string>
  /** Start of the trace, by which retention deletes the run. */
  trace_start: Instant
  state: 'pending' | 'verified' | 'failed' | 'cancelled'
  trigger: 'request' | 'task' | 'policy'
  requested_by: string
  /** The requested verifiers with all options. */
  verifiers: Json<readonly { name: string; options: JsonRecord }[]>
  job_id: OrNull<string>
  answer_observation_id: OrNull<string>
  /** SHA-256 of the answer, in hexadecimal. */
  answer_digest: OrNull<string>
  answer_chars: OrNull<number>
  /** Digests and sizes of what the run read. */
  context: JsonOrNull<JsonRecord>
  trust_score: OrNull<number>
  /** `Trust` of the formula, with the calibrations that it used. */
  trust: JsonOrNull<JsonRecord>
  claims: ByDefault<number>
  /** Claims by verdict. */
  counts: JsonOrNull<Record<string, number>>
  values_checked: ByDefault<number>
  /** Work of each verifier, by name: state, reason, claims, cost, milliseconds. */
  verifier_runs: JsonOrNull<readonly JsonRecord[]>
  cost_nano_dollars: CountByDefault
  tokens: CountByDefault
  error: JsonOrNull<{ code: string; message: string }>
  created_at: Instant
  started_at: InstantOrNull
  ended_at: InstantOrNull
}

interface VerificationClaimsTable {
  id: string
  run_id: string
  project_id: string
  trace_id: string
  /** Order in the answer, from 0. */
  position: number
  text: string
  /** UTF-16 offsets in the answer. */
  starts_at: number
  ends_at: number
  kind: string
  /** SHA-256 of the normalised text. */
  digest: string
  verdict: string
  probability: OrNull<number>
  weight: number
  results: Json<readonly JsonRecord[]>
  /** Values of the claim, with their sources among the texts that the agent saw. */
  checked_values: Json<readonly JsonRecord[]>
}

/** A person's verdict on a claim. */
interface VerificationOverridesTable {
  project_id: string
  trace_id: string
  claim_digest: string
  verdict: 'supported' | 'contradicted'
  reason: string
  /** The results of the verifiers at the time of the override. */
  machine: Json<readonly JsonRecord[]>
  trace_start: Instant
  created_at: Instant
  created_by: string
}

/** A reviewer's verdict on a claim, part of the reviewer's label of the task. */
interface VerificationClaimLabelsTable {
  project_id: string
  task_id: string
  /** `user:<id>` or `service_account:<id>`. */
  reviewer: string
  trace_id: string
  claim_digest: string
  /** The claim that the reviewer saw; its run may be deleted. */
  claim_id: string
  verdict: 'supported' | 'contradicted'
  reason: OrNull<string>
  /** The results of the verifiers at the time of the label. */
  machine: Json<readonly JsonRecord[]>
  trace_start: Instant
  created_at: Instant
}

/** A call of a model or a search endpoint by a run. */
interface VerificationCallsTable {
  id: string
  run_id: string
  project_id: string
  /** Identifies the call within the run, so that a repeated step finds the stored reply. */
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

interface VerificationCalibrationsTable {
  project_id: string
  verifier: string
  version: number
  calibration: Json<JsonRecord>
  brier: OrNull<number>
  ece: OrNull<number>
  created_at: Instant
}

interface VerificationPoliciesTable {
  project_id: string
  policy: Json<JsonRecord>
  version: number
  updated_at: Instant
  updated_by: string
}

/** A document of the knowledge base, with its current version. */
interface KbDocumentsTable {
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

interface KbDocumentVersionsTable {
  document_id: string
  version: number
  format: 'text' | 'markdown' | 'html' | 'json'
  source: string
  digest: string
  bytes: number
  created_at: Instant
  created_by: string
}

/** A passage of the current version of a document. */
interface KbChunksTable {
  /** Generated. */
  id: ByDefault<number>
  project_id: string
  document_id: string
  version: number
  position: number
  text: string
  /** Title of the document and header of the table. */
  context: string
  /** UTF-16 offsets in the document's source. */
  starts_at: number
  ends_at: number
  /** Number of terms, the length of BM25. */
  terms: number
  digest: string
}

/** A posting: a term occurs `tf` times in a chunk of `terms` terms. */
interface KbTermsTable {
  project_id: string
  term: string
  chunk_id: number
  tf: number
  terms: number
}

interface KbStatsTable {
  project_id: string
  documents: CountByDefault
  chunks: CountByDefault
  terms: CountByDefault
  bytes: CountByDefault
  facts: CountByDefault
}

/** A structured fact: subject, attribute, value, unit. */
interface KbFactsTable {
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
