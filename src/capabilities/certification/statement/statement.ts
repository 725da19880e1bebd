import { hash } from 'node:crypto'
import { z } from 'zod'
import { canonicalJson } from '../../../kernel/canonical-json.ts'
import { parsedJson } from '../../../kernel/json-values.ts'
import { StatementFault } from '../../signing/index.ts'

/** The payloadType of in-toto statements in DSSE envelopes. */
export const statementPayloadType = 'application/vnd.in-toto+json'

/** The predicateType of release certifications. */
export const predicateType = 'https://looptrace.dev/release-certification/v1'

const sha256 = z.string().regex(/^[0-9a-f]{64}$/)
const name = z.string().min(1).max(512)
const count = z.int().min(0)
const time = z.iso.datetime()

const gate = z.strictObject({
  metric: name,
  kind: z.enum(['absolute', 'regression', 'zero_tolerance', 'worst_group', 'pass_k']),
  tier: z.enum(['critical', 'supporting', 'advisory']),
  direction: z.enum(['higher', 'lower']),
  limit: z.number(),
  group: z.string().max(512).nullable(),
  n: count,
  k: count.nullable(),
  clusters: count,
  baseline_n: count.nullable(),
  estimate: z.number().nullable(),
  interval: z.tuple([z.number(), z.number()]).nullable(),
  verdict: z.enum(['passed', 'failed', 'inconclusive']),
  reason: z.string().max(1_000).nullable(),
  warnings: z.array(z.string().max(100)).max(20),
  evidence: z.strictObject({ root: sha256, leaves: count }),
})

const release = z.strictObject({ name, version: name })
const window = z.strictObject({ from: time, to: time })
/** Releases of tasks, sorted. By default one is `name@version`. */
const tags = z.array(z.string().min(1).max(1_100)).max(20)
const baseline = release.extend({
  tags,
  environment: name.nullable(),
  window,
  eval_run_ids: z.array(z.uuid()).max(200),
})

/** Numbers of doubtful and missing tasks: see `TaskCounts`. */
const taskCounts = z.strictObject({
  total: count,
  late: count,
  altered: count,
  equal: count,
  jump: count,
  running: count,
  unanalysed: count,
  unchecked: count,
  unverified: count,
  unpriced: count,
})

const predicateFields = z.strictObject({
  /** The project of the evidence. One key signs for all projects of an installation. */
  project_id: z.uuid(),
  policy: z.strictObject({ id: name, version: name, digest: sha256 }),
  release,
  release_tags: tags,
  /** As it was declared. */
  baseline: baseline.nullable(),
  /** Null for tasks without an environment. */
  environment: name.nullable(),
  verdict: z.enum(['certified', 'rejected', 'inconclusive']),
  /** Reasons, besides the gates, why the release is not certified. */
  obstacles: z.array(z.string().max(100)).max(20),
  warnings: z.array(z.string().max(100)).max(20),
  gates: z.array(gate).max(1_000),
  eval_runs: z.array(z.strictObject({ digest: sha256, cases: count })).max(200),
  window,
  ledger: z.strictObject({ accepted: count, stored: count, lost: count, pending: count }),
  /** Absent without evidence of tasks, and in statements of earlier versions. */
  tasks: taskCounts.nullable().optional(),
  baseline_tasks: taskCounts.nullable().optional(),
  attempt: z.int().min(1),
  max_attempts: z.int().min(1),
  declared_at: time,
  issued_at: time,
  expires_at: time,
})

/** The result of a release certification, as it is signed. Times are RFC 3339 in UTC. */
export type Predicate = z.infer<typeof predicateFields>

const predicate = predicateFields.superRefine((value, context) => {
  for (const message of contradictions(value)) context.addIssue({ code: 'custom', message })
})

const statement = z.strictObject({
  _type: z.literal('https://in-toto.io/Statement/v1'),
  subject: z.tuple([z.strictObject({ name, digest: z.strictObject({ sha256 }) })]),
  predicateType: z.literal(predicateType),
  predicate,
})

/** An in-toto Statement v1 about one release. */
export type Statement = z.infer<typeof statement>

/**
 * Returns the payload bytes of a statement: canonical JSON. The subject is the image digest (hex),
 * or the SHA-256 of `name@version` for a release without an image.
 */
export function encodeStatement(value: Predicate, imageDigest?: string): Buffer {
  const { name, version } = value.release
  const digest = { sha256: imageDigest ?? hash('sha256', `${name}@${version}`) }
  const _type = 'https://in-toto.io/Statement/v1'
  const full = { _type, subject: [{ name, digest }], predicateType, predicate: value }
  return Buffer.from(canonicalJson(parseStatement(full)))
}

/**
 * Reads the payload of an envelope. Bytes that are not the canonical form are refused: with a
 * repeated key, two readers could see two verdicts.
 */
export function readStatement(payload: Uint8Array): Statement {
  const text = Buffer.from(payload).toString()
  const value = parsedJson(text)
  if (value === undefined || !Buffer.from(canonical(value)).equals(payload)) {
    throw new StatementFault('not_a_statement', 'payload: expected canonical JSON in UTF-8')
  }
  return parseStatement(value)
}

function canonical(value: unknown): string {
  try {
    return canonicalJson(value)
  } catch {
    return '' // Nested too deeply to serialise.
  }
}

function parseStatement(value: unknown): Statement {
  const read = statement.safeParse(value)
  if (read.success) return read.data
  const [issue] = read.error.issues
  const at = issue?.path.join('.') || 'payload'
  throw new StatementFault('not_a_statement', `${at}: ${issue?.message ?? 'unknown form'}`)
}

/** Returns the contradictions in a predicate, which are faults under any policy. */
function contradictions(value: Predicate): string[] {
  const { gates, ledger, window } = value
  const checks: [boolean, string][] = [
    [Date.parse(window.from) < Date.parse(window.to), 'expected window.from before window.to'],
    [
      Date.parse(value.issued_at) < Date.parse(value.expires_at),
      'expected issued_at before expires_at',
    ],
    [
      ledger.stored + ledger.lost + ledger.pending <= ledger.accepted,
      'expected stored + lost + pending up to accepted',
    ],
    [gates.every(({ k, n }) => k === null || k <= n), 'expected k up to n in each gate'],
    [
      gates.every(({ interval }) => interval === null || interval[0] <= interval[1]),
      'expected intervals with low up to high',
    ],
    [value.verdict !== 'certified' || canBeCertified(value), notCertified],
  ]
  return checks.flatMap(([isTrue, message]) => (isTrue ? [] : [message]))
}

const notCertified =
  'certified: expected passed critical and supporting gates with samples, at least one, ' +
  'no obstacles, no lost items, at most 0.5 % pending, and an attempt up to max_attempts'

function canBeCertified(value: Predicate): boolean {
  const { gates, ledger, attempt, max_attempts, obstacles } = value
  const gating = gates.filter(({ tier }) => tier !== 'advisory')
  const isPassed = gating.every(({ verdict, n, evidence }) => {
    return verdict === 'passed' && n > 0 && evidence.leaves > 0
  })
  const isComplete = ledger.lost === 0 && ledger.pending <= 0.005 * ledger.accepted
  const isUnhindered = obstacles.length === 0 && attempt <= max_attempts
  return gating.length > 0 && isPassed && isComplete && isUnhindered
}
