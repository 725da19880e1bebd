import { canonicalJson } from '../../../kernel/canonical-json.ts'
import { sql } from '../../../platform/relational/index.ts'
import type { Baseline, Certification, CertificationDb } from '../evidence/contract.ts'
import { countAltered, type EarlierLook } from '../evidence/count-tasks.ts'
import type { TasksAsked } from '../evidence/read-tasks.ts'
import type { EvidenceItem } from '../gates/evidence-item.ts'
import type { Frozen } from './frozen.ts'
import { readEvidence } from './read-evidence.ts'

/** Maximum earlier looks that are compared: the newest ones. */
const looks_max = 200

const lookColumns = [
  ...(['id', 'project_id', 'environment', 'release_tags', 'window_from', 'window_to'] as const),
  ...(['baseline', 'frozen', 'started_at', 'created_at', 'evidence_salt', 'held_until'] as const),
] as const

/** An earlier look at the tasks of a release. */
export type StoredLook = Pick<Certification, (typeof lookColumns)[number]>

/** Finds earlier looks that read tasks of the same releases, newest first. */
export function findEarlierLooks(
  db: CertificationDb,
  { id, project_id, environment, release_tags }: Certification,
): Promise<StoredLook[]> {
  return db
    .selectFrom('certifications')
    .select(lookColumns)
    .where('project_id', '=', project_id)
    .where('environment', '=', environment)
    .where('id', '<>', id)
    .where(sql<boolean>`release_tags && ${[...release_tags]}::text[]`)
    .where(sql<boolean>`jsonb_typeof(frozen -> 'ledger') = 'object'`)
    .where(sql<boolean>`frozen -> 'same_as' is null`)
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .limit(looks_max)
    .execute()
}

/** A side of a certification. */
export type Side = 'release' | 'baseline'

/** Returns the looks that read the same tasks of a side, newest first. */
export function looksOfSide(
  looks: readonly StoredLook[],
  { baseline }: Pick<Certification, 'baseline'>,
  side: Side,
): StoredLook[] {
  if (side === 'release') return [...looks]
  const declared = canonicalJson(baseline)
  return looks.filter((look) => canonicalJson(look.baseline) === declared)
}

/** Returns looks at a side as tasks are compared with them. */
export function toEarlierLooks(looks: readonly StoredLook[], side: Side): EarlierLook[] {
  return looks.map((look) => {
    const { read_at = look.started_at ?? look.created_at } = look.frozen as Frozen
    const baseline = look.baseline as Baseline | null
    const end = side === 'release' ? look.window_to : (baseline?.window.to ?? look.window_to)
    return { end, read_at }
  })
}

type ReadAgain = (asked: TasksAsked) => Promise<readonly EvidenceItem[]>

/**
 * Counts the tasks that were altered since earlier looks: those that the last look counted, and
 * those of its evidence that are gone or have another outcome when they are read again. Evidence
 * whose salt was erased cannot be compared.
 */
export async function countAlteredSince(
  db: CertificationDb,
  { looks, side, salt }: { looks: readonly StoredLook[]; side: Side; salt: Buffer },
  readAgain: ReadAgain,
): Promise<number> {
  const [last] = looks
  if (last === undefined) return 0
  const counted = (last.frozen as Frozen).tasks?.[side]?.altered ?? 0
  if (last.held_until === null || last.evidence_salt?.equals(salt) !== true) return counted
  const asked = selectionOf(last, side)
  if (asked === undefined) return counted
  const before = (await readEvidence(db, last))[side].filter(({ case_id }) => case_id === null)
  return counted + countAltered(before, await readAgain(asked))
}

function selectionOf(look: StoredLook, side: Side): TasksAsked | undefined {
  const { project_id, release_tags, environment, window_from, window_to } = look
  const window = { from: window_from, to: window_to }
  if (side === 'release') return { project_id, tags: release_tags, environment, window }
  const baseline = look.baseline as Baseline | null
  if (baseline === null) return undefined
  return { project_id, ...baseline }
}
