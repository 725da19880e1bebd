import { sql } from '../../../platform/relational/index.ts'
import type {
  Baseline,
  Certification,
  CertificationDb,
  ReadFeedback,
} from '../evidence/contract.ts'
import { readTasks, type TasksAsked, type TasksRead } from '../evidence/read-tasks.ts'
import {
  countAlteredSince,
  findEarlierLooks,
  looksOfSide,
  type Side,
  type StoredLook,
  toEarlierLooks,
} from './earlier-looks.ts'

type Ports = { db: CertificationDb; readFeedback: ReadFeedback }

type SideSettings = {
  salt: Buffer
  withGroup: boolean
  tasks_max: number
  signal: AbortSignal
}

/** The tasks of both sides. `read_at`: when reading began, by the clock of the store. */
export type SidesRead = { release: TasksRead; baseline: TasksRead | null; read_at: string }

/** Reads the tasks of a release and of its baseline, and compares them with earlier looks. */
export async function readSides(
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
