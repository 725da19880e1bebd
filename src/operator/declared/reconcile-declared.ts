import { isDeepStrictEqual } from 'node:util'
import {
  type ConditionDraft,
  type EventDraft,
  NotReady,
  type ReconcileDeps,
  type Reconciled,
} from '../contract.ts'
import type { DeclaredObject, Stored } from './declared-object.ts'

/** Values by their names or paths. A missing value equals null. */
export type Values = Readonly<Record<string, unknown>>

/** An object of the service as one resource declares it. */
export type Declaration<T extends Stored, Status extends object> = {
  /** Noun for messages: `rule`. */
  noun: string
  /** The operation of its events: `PutRule`. */
  action: string
  object: DeclaredObject<T>
  /** The body of a write, `managed_by` included. */
  body: object
  /** The values that the service must have. Default: the body. */
  values?: Values
  /**
   * Returns the values of the stored object that are compared. `is_written`: it was read back after
   * a write.
   */
  valuesOf(stored: T, is_written: boolean): Values
  /** Whether the service had this generation, so that other values are changes by someone else. */
  was_applied: boolean
  /** Set for an object that is never absent, so that its absence is a change by someone else. */
  is_permanent?: true
  /** Values whose changes are not counted as drift. */
  is_no_drift?: (path: string) => boolean
  /** Returns the id to note in the annotation of the resource. */
  idOf?: (stored: T) => string
  /** Formats differences for events. Default: their paths. */
  describe?: (differences: readonly Difference[]) => string
  /** Returns reason and note of the event about changes that are not drift. */
  explain?: (change: Change<T>) => Pick<EventDraft, 'reason' | 'note'>
  /** The reason of a user for the change, for its event. */
  because?: string
  /** Whether an object without differences is written again. */
  isDue?: (stored: T) => boolean
  /** Returns conditions and status of the object that was read last. */
  report(stored: T, change: Change<T>): Reported<Status> | Promise<Reported<Status>>
}

/** Returns the condition of a resource whose object is as declared. */
export function synced(message: string): ConditionDraft {
  return { type: 'Ready', status: 'True', reason: 'Synced', message }
}

type Reported<Status extends object> = Omit<Reconciled<Status>, 'drifted'>

/** The differences that a reconcile found, and wrote. */
export type Change<T> = {
  before: T | undefined
  changes: readonly Difference[]
  /** Those of `changes` that correct someone else's. */
  drift: readonly Difference[]
}

/** A value that differs from the declared one. */
export type Difference = { path: string; got: unknown; expected: unknown }

/** Time until an object that read back otherwise is written again. */
const notAppliedMs = 10_000

/**
 * Makes the object in the service match its declaration: reads, compares, writes only if it differs,
 * and reads again. Throws `NotReady` (`NotApplied`) when the read-back differs.
 */
export async function reconcileDeclared<T extends Stored, Status extends object>(
  declaration: Declaration<T, Status>,
  deps: Pick<ReconcileDeps, 'noteExternalId'>,
): Promise<Reconciled<Status>> {
  const { object, body, was_applied, is_permanent, is_no_drift } = declaration
  const before = await object.find()
  const changes = differencesOf(declaration, before, false)
  const isWritten = changes.length > 0 || before === undefined || declaration.isDue?.(before)
  if (isWritten) await object.write(body, before)
  const after = isWritten ? await readBack(declaration) : before
  if (declaration.idOf !== undefined) await deps.noteExternalId(declaration.idOf(after))
  const isDrift = was_applied && (before !== undefined || is_permanent)
  const drift = isDrift ? changes.filter(({ path }) => !is_no_drift?.(path)) : []
  const change = { before, changes, drift }
  const reported = await declaration.report(after, change)
  const events = [...eventsOf(declaration, change), ...(reported.events ?? [])]
  return { ...reported, events, drifted: drift.length }
}

async function readBack<T extends Stored>(declaration: Declaration<T, object>): Promise<T> {
  const after = await declaration.object.find()
  const left = differencesOf(declaration, after, true)
  if (after !== undefined && left.length === 0) return after
  const what = describe(declaration, left) || declaration.noun
  const message = `the ${declaration.noun} was written, but the read-back differs: ${what}`
  throw new NotReady('NotApplied', message, { again_after_ms: notAppliedMs })
}

function differencesOf<T extends Stored>(
  { values, body, valuesOf }: Declaration<T, object>,
  stored: T | undefined,
  is_written: boolean,
): Difference[] {
  return differences(
    values ?? { ...body },
    stored === undefined ? {} : valuesOf(stored, is_written),
  )
}

/** Returns the differences between declared and stored values, sorted by path. */
export function differences(declared: Values, stored: Values): Difference[] {
  return [...new Set([...Object.keys(declared), ...Object.keys(stored)])]
    .toSorted()
    .map((path) => ({ path, got: stored[path], expected: declared[path] }))
    .filter(({ got, expected }) => !isDeepStrictEqual(got ?? null, expected ?? null))
}

function eventsOf<T extends Stored>(
  declaration: Declaration<T, object>,
  change: Change<T>,
): EventDraft[] {
  const { noun, action, explain, because } = declaration
  const { before, changes, drift } = change
  if (changes.length === 0) return []
  if (drift.length > 0) {
    const note = `Corrected changes made in the service: ${describe(declaration, drift)}`
    return [{ type: 'Warning', reason: 'DriftCorrected', action, note }]
  }
  if (explain !== undefined) return [{ type: 'Normal', action, ...explain(change) }]
  if (before === undefined) {
    return [{ type: 'Normal', reason: 'Created', action, note: `Created the ${noun}.` }]
  }
  const what = `${describe(declaration, changes)}${because === undefined ? '' : ` (${because})`}`
  const { managed_by, version } = before
  return managed_by === null
    ? [{ type: 'Normal', reason: 'Adopted', action, note: `Took over version ${version}: ${what}` }]
    : [{ type: 'Normal', reason: 'Updated', action, note: `Wrote ${what}` }]
}

function describe<T extends Stored>(
  { describe: own }: Declaration<T, object>,
  found: readonly Difference[],
): string {
  return own?.(found) ?? found.map(({ path }) => path).join(', ')
}
