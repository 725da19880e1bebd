import { setImmediate } from 'node:timers/promises'
import type { z } from 'zod'
import type { Fault } from '../../../kernel/problem.ts'
import { type CanonicalRecords, type RecordKind, recordKinds } from '../../records/schema/index.ts'
import type { Batch } from './batch.ts'
import { depth_max } from './body-hash.ts'

/** The valid records of a batch, and the faults of the others. */
export type ReadRecords = {
  records: { [Kind in RecordKind]: CanonicalRecords[Kind][] }
  /** Number of invalid records. */
  rejected: number
  /** The first faults, with pointers into the batch. */
  errors: Fault[]
  /** Number of faults that did not fit into `errors`. */
  errors_left_out: number
}

/** Maximum faults in a status record. */
const errors_max = 100
const detail_characters_max = 300

/**
 * Validates each record on its own. `too_deep` contains the records, as `kind/index`, that are
 * nested deeper than `depth_max`.
 */
export async function readRecords(
  batch: Batch,
  too_deep: ReadonlySet<string>,
): Promise<ReadRecords> {
  const read: ReadRecords = {
    records: { traces: [], observations: [], events: [], links: [], correlations: [] },
    rejected: 0,
    errors: [],
    errors_left_out: 0,
  }
  for (const kind of recordKinds) await readKind(read, kind, { batch, too_deep })
  return read
}

async function readKind<Kind extends RecordKind>(
  read: ReadRecords,
  kind: Kind,
  { batch, too_deep }: { batch: Batch; too_deep: ReadonlySet<string> },
): Promise<void> {
  const list = batch.lists[kind]
  const schema: z.ZodType<CanonicalRecords[Kind]> = batch.schema.records[kind]
  const records: CanonicalRecords[Kind][] = read.records[kind]
  await inSlices(list.length, (index) => {
    if (too_deep.size > 0 && too_deep.has(`${kind}/${index}`)) {
      read.rejected += 1
      addFault(read, `/${kind}/${index}`, `is nested deeper than ${depth_max} levels`)
      return
    }
    const result = schema.safeParse(list[index])
    if (result.success) {
      records.push(result.data)
      return
    }
    read.rejected += 1
    addFaults(read, `/${kind}/${index}`, result.error.issues)
  })
}

function addFaults(read: ReadRecords, pointer: string, issues: readonly z.core.$ZodIssue[]): void {
  for (const issue of issues) {
    const at = issue.path.reduce<string>((path, step) => `${path}/${escaped(step)}`, pointer)
    if (issue.code !== 'unrecognized_keys') {
      addFault(read, at, issue.message)
      continue
    }
    for (const key of issue.keys) addFault(read, `${at}/${escaped(key)}`, 'is not a field here')
  }
}

function addFault(read: ReadRecords, pointer: string, detail: string): void {
  if (read.errors.length >= errors_max) {
    read.errors_left_out += 1
    return
  }
  read.errors.push({
    pointer: pointer.slice(0, detail_characters_max),
    detail: detail.slice(0, detail_characters_max),
  })
}

/** Escapes a step of a JSON pointer (RFC 6901). */
function escaped(step: PropertyKey): string {
  return String(step).replaceAll('~', '~0').replaceAll('/', '~1')
}

/** Time spent on one batch before other requests get the event loop. */
const slice_ms = 8
/** Records between two checks of the time. */
const stride = 32

/**
 * Calls `step` for each index below `length`, in slices, so that a large batch does not block other
 * requests.
 */
export async function inSlices(length: number, step: (index: number) => void): Promise<void> {
  let end = performance.now() + slice_ms
  for (let index = 0; index < length; index += 1) {
    step(index)
    if (index % stride === stride - 1 && performance.now() > end) {
      await setImmediate()
      end = performance.now() + slice_ms
    }
  }
}
