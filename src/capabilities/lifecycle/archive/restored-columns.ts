import { JobRefused } from '../../jobs/index.ts'
import type { ArchivedKind } from './kinds.ts'
import type { ArchivedColumn } from './manifest.ts'

/**
 * The columns of an archive as the tables of slices have them. Columns that came later take their
 * defaults. Throws JobRefused, with the name, for a column that is not known (any more), has
 * another type, or is missing though rows are told apart by it.
 */
export function columnsToRestore(
  kind: ArchivedKind,
  archived: readonly ArchivedColumn[],
  known: readonly ArchivedColumn[],
): ArchivedColumn[] {
  const types = new Map(known.map(({ name, type }) => [name, type]))
  const columns = archived.map(({ name, type }) => {
    const here = types.get(name)
    if (here === undefined) {
      throw new JobRefused(
        `the archive's ${kind.kind} have a column ${name}, which is not known here`,
      )
    }
    if (plain(here) !== plain(type)) {
      throw new JobRefused(
        `the archive's column ${name} of ${kind.kind} is ${type}, here it is ${here}`,
      )
    }
    return { name, type: here }
  })
  const names = new Set(columns.map(({ name }) => name))
  for (const name of ['project_id', kind.time, ...kind.position.map(({ column }) => column)]) {
    if (names.has(name)) continue
    throw new JobRefused(`the archive's ${kind.kind} have no column ${name}`)
  }
  return columns
}

/** Dictionaries are a way to store a type, not a type. */
function plain(type: string): string {
  return type.replace(/LowCardinality\(([^()]+)\)/g, '$1')
}
