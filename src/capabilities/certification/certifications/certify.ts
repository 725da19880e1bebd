import { hash, randomBytes } from 'node:crypto'
import { canonicalJson } from '../../../kernel/canonical-json.ts'
import type { Clock } from '../../../kernel/time.ts'
import { sql } from '../../../platform/relational/index.ts'
import type { Job, JobContext, JobHandler, JobValue } from '../../jobs/index.ts'
import { readKeyId, signEnvelope } from '../../signing/index.ts'
import type {
  Baseline,
  Certification,
  CertificationDb,
  ReadFeedback,
} from '../evidence/contract.ts'
import { readEvalCases } from '../evidence/read-eval-cases.ts'
import { readTasks, type TasksAsked, type TasksRead } from '../evidence/read-tasks.ts'
import type { EvidenceItem } from '../gates/evidence-item.ts'
import type { Obstacle } from '../gates/gate-test.ts'
import { type Completeness, isComplete } from '../gates/judge-gates.ts'
import type { SideCounts } from '../gates/task-counts.ts'
import type { SigningKey } from '../keys/signing-key.ts'
import { metrics } from '../policy/metrics.ts'
import type { PolicyDocument } from '../policy/policy.ts'
import { encodeStatement, statementPayloadType } from '../statement/statement.ts'
import {
  countAlteredSince,
  findEarlierLooks,
  looksOfSide,
  type Side,
  type StoredLook,
  toEarlierLooks,
} from './earlier-looks.ts'
import type { Frozen } from './frozen.ts'
import { readEvidence } from './read-evidence.ts'
import { certificationJob, findCertification } from './store.ts'
import { expiryOf, toPredicate } from './to-predicate.ts'
import {
  beginLook,
  type Evidence,
  endCertification,
  failCertification,
  freezeEvidence,
} from './write.ts'

/**
 * Returns the outcome of the items that a project received in a window (milliseconds since 1970).
 */
type ReadLedger = (
  project_id: string,
  window: { from_ms: number; to_ms: number },
) => Promise<Completeness>

/** Dependencies of certification jobs. */
export type CertifyDeps = {
  db: CertificationDb
  clock: Clock
  signing: SigningKey
  readLedger: ReadLedger
  readFeedback: ReadFeedback
  /** Maximum tasks of a release and of its baseline, and maximum eval cases of each. */
  tasks_max: number
}

/** Time within which a due certification starts. */
const poll_ms = 250
/** Maximum concurrent certifications of a process. */
const certifications_max = 2

/** Returns the handler of certification jobs. */
export function certificationHandler(deps: CertifyDeps): JobHandler {
  return {
    kind: certificationJob,
    jobs_max: certifications_max,
    poll_ms,
    run: (job, context) => certify(deps, job, context),
  }
}

/**
 * Runs a certification to its end. Each step can be repeated: the attempt is counted once, the
 * evidence that is stored first counts, and the result is written once.
 */
async function certify(deps: CertifyDeps, job: Job, { signal }: JobContext): Promise<JobValue> {
  const { db, clock } = deps
  const { project_id, params } = job
  const certification_id = String(params['certification_id'])
  const found = await findCertification(db, { project_id, certification_id })
  const now = new Date(clock.now_ms())
  const certification = found && (await beginLook(db, found, now))
  if (certification === undefined) return { state: found?.state ?? 'deleted' }
  const key = await deps.signing.current()
  if (key === undefined) {
    const error = 'There is no signing key. Set LOOPTRACE_CERTIFICATION_KEY for the workers.'
    await failCertification(db, certification, { error, ended_at: now })
    return { state: 'failed' }
  }
  if (certification.frozen === null) await freeze(deps, certification, signal)
  const frozen = await findCertification(db, { project_id, certification_id })
  if (frozen?.state !== 'running') return { state: frozen?.state ?? 'deleted' }
  signal.throwIfAborted()
  const predicate = await computePredicate(db, frozen)
  const payload = encodeStatement(predicate, frozen.image_digest ?? undefined)
  const statement = JSON.stringify(signEnvelope(statementPayloadType, payload, key))
  const { verdict } = predicate
  const ended_at = new Date(clock.now_ms())
  const key_id = readKeyId(key)
  await endCertification(db, frozen, { predicate, verdict, statement, key_id, ended_at })
  return { state: 'ended', verdict }
}

/** Computes the result of a certification from its stored rows. */
export async function computePredicate(db: CertificationDb, certification: Certification) {
  const { project_id, id } = certification
  const frozen = certification.frozen as Frozen
  return toPredicate({
    certification,
    policy: certification.policy as PolicyDocument,
    frozen,
    evidence: await readEvidence(db, { project_id, id: frozen.same_as ?? id }),
  })
}

/** Reads the evidence and stores it, unless the attempts at the release are exhausted. */
async function freeze(
  deps: CertifyDeps,
  certification: Certification,
  signal: AbortSignal,
): Promise<void> {
  const policy = certification.policy as PolicyDocument
  const { evidence, ...read } = await readAll(deps, certification, signal)
  const at = new Date(deps.clock.now_ms()).toISOString()
  const frozen: Frozen = { at, ...read, evidence_digest: digestEvidence(evidence) }
  const held_until = new Date(expiryOf(policy, frozen))
  const exhausted: Frozen = { at, ledger: null, obstacles: [], warnings: [], eval_runs: [] }
  signal.throwIfAborted()
  await freezeEvidence(deps.db, certification, { evidence, frozen, exhausted, held_until })
}

type Read = Omit<Frozen, 'at'> & { evidence: readonly Evidence[] }

async function readAll(
  deps: CertifyDeps,
  certification: Certification,
  signal: AbortSignal,
): Promise<Read> {
  const { db } = deps
  const { project_id, eval_run_ids } = certification
  const { gates } = certification.policy as PolicyDocument
  const window = { from: certification.window_from, to: certification.window_to }
  const readsTasks = gates.some(({ metric }) => metrics[metric].source === 'tasks')
  const baseline = certification.baseline as Baseline | null
  // An erasure removes the salt; evidence that is read then has a salt that is not stored.
  const salt = certification.evidence_salt ?? randomBytes(32)
  const withGroup = gates.some(({ kind }) => kind === 'worst_group')
  // Read before the tasks: items that are settled in the ledger are already stored.
  const ledger = readsTasks ? await readWindow(deps, project_id, window) : null
  const sides = readsTasks
    ? await readSides(deps, certification, { salt, withGroup, tasks_max: deps.tasks_max, signal })
    : null
  const ofCases = { project_id, salt, cases_max: deps.tasks_max }
  const cases = await readEvalCases(db, { ...ofCases, run_ids: eval_run_ids })
  const comparedIds = baseline?.eval_run_ids ?? []
  const comparedCases = await readEvalCases(db, { ...ofCases, run_ids: comparedIds })
  const isCut = [sides?.release, sides?.baseline, cases, comparedCases].some((read) => read?.isCut)
  return {
    evidence: [
      { side: 'release', source: 'tasks', items: sides?.release.items ?? [] },
      { side: 'release', source: 'eval', items: cases.items },
      { side: 'baseline', source: 'tasks', items: sides?.baseline?.items ?? [] },
      { side: 'baseline', source: 'eval', items: comparedCases.items },
    ],
    ledger,
    eval_runs: cases.runs,
    warnings: [],
    obstacles: [
      ...(isCut ? ['too_much_evidence' as const] : []),
      ...(await findObstacles(deps, { certification, compared: sides?.baseline ?? null })),
      ...(cases.isMissing || comparedCases.isMissing ? ['eval_run_missing' as const] : []),
    ],
    ...(sides !== null && { read_at: sides.read_at, tasks: countsOf(sides) }),
  }
}

type Ports = { db: CertificationDb; readFeedback: ReadFeedback }

type SideSettings = {
  salt: Buffer
  withGroup: boolean
  tasks_max: number
  signal: AbortSignal
}

/** The tasks of both sides. `read_at`: when reading began, by the clock of the store. */
type SidesRead = { release: TasksRead; baseline: TasksRead | null; read_at: string }

/** Reads the tasks of a release and of its baseline, and compares them with earlier looks. */
async function readSides(
  ports: Ports,
  certification: Certification,
  settings: SideSettings,
): Promise<SidesRead> {
  const { project_id, release_tags: tags, environment } = certification
  const window = { from: certification.window_from, to: certification.window_to }
  const baseline = certification.baseline as Baseline | null
  const read_at = await readStoreTime(ports.db)
  const all = await findEarlierLooks(ports.db, certification)
  const readSide = (side: Side, asked: TasksAsked) => {
    const looks = looksOfSide(all, certification, side)
    return readCompared(ports, asked, { ...settings, looks, side, read_at })
  }
  return {
    release: await readSide('release', { project_id, tags, environment, window }),
    baseline: baseline && (await readSide('baseline', { project_id, ...baseline })),
    read_at,
  }
}

/** Returns the time of the store, which also writes when a task was stored. */
async function readStoreTime(db: CertificationDb): Promise<string> {
  const { rows } = await sql<{
    now: string
  }>`select clock_timestamp()::timestamptz(3) as now`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('select clock_timestamp(): got no row')
  return row.now
}

type CompareSettings = SideSettings & {
  looks: readonly StoredLook[]
  side: Side
  read_at: string
}

async function readCompared(
  ports: Ports,
  asked: TasksAsked,
  { looks, side, read_at, ...settings }: CompareSettings,
): Promise<TasksRead> {
  const read = (which: TasksAsked) =>
    readTasks(ports, which, { ...settings, read_at, looks: toEarlierLooks(looks, side) })
  const tasks = await read(asked)
  const altered = await countAlteredSince(
    ports.db,
    { looks, side, salt: settings.salt },
    async (last) => (isWithin(last, asked) ? tasks : await read(last)).items,
  )
  return { ...tasks, counts: { ...tasks.counts, altered } }
}

/** Returns whether the tasks that a look selected are among those of another selection. */
function isWithin(inner: TasksAsked, outer: TasksAsked): boolean {
  return (
    inner.environment === outer.environment &&
    inner.tags.every((tag) => outer.tags.includes(tag)) &&
    Date.parse(inner.window.from) >= Date.parse(outer.window.from) &&
    Date.parse(inner.window.to) <= Date.parse(outer.window.to)
  )
}

function countsOf({ release, baseline }: SidesRead): SideCounts {
  return { release: release.counts, baseline: baseline?.counts ?? null }
}

function readWindow(
  deps: CertifyDeps,
  project_id: string,
  { from, to }: { from: string; to: string },
): Promise<Completeness> {
  return deps.readLedger(project_id, { from_ms: Date.parse(from), to_ms: Date.parse(to) })
}

type Compared = { certification: Certification; compared: TasksRead | null }

/** Finds obstacles, such as an incomplete baseline. Gates check the ledger of the release. */
async function findObstacles(
  deps: CertifyDeps,
  { certification, compared }: Compared,
): Promise<Obstacle[]> {
  const baseline = certification.baseline as Baseline | null
  if (baseline === null || compared === null || compared.items.length === 0) return []
  const ledger = await readWindow(deps, certification.project_id, baseline.window)
  return isComplete(ledger) ? [] : ['incomplete_baseline']
}

/**
 * Returns the digest of evidence without its ids, in hexadecimal: equal for items with equal values
 * in equal clusters. It has no salt and no ids, so that looks can be compared after an erasure too.
 */
function digestEvidence(evidence: readonly Evidence[]): string {
  const parts = evidence
    .map(({ side, source, items }) => `${side} ${source} ${digestItems(items)}`)
    .toSorted()
  return hash('sha256', canonicalJson(parts))
}

function digestItems(items: readonly EvidenceItem[]): string {
  const clusters = [...Map.groupBy(items, ({ cluster }) => cluster).values()].map((own) => {
    const texts = own.map(({ group, case_id, values }) => canonicalJson({ group, case_id, values }))
    return hash('sha256', canonicalJson(texts.toSorted()))
  })
  return hash('sha256', canonicalJson(clusters.toSorted()))
}
