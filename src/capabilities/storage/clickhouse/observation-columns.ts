import type { Observation } from '../../../model/observation.ts'
import { compileRowBinary, type RowBinaryColumn } from '../../../platform/columnar/index.ts'
import { observationColumnTypes } from '../row-format/columns.ts'

export { observationColumnTypes }

/** A column of table `observations`. */
export type ObservationColumn = keyof typeof observationColumnTypes

export const observationColumns: readonly ObservationColumn[] = Object.keys(
  observationColumnTypes,
) as ObservationColumn[]

/** Writes observations as RowBinary, columns in the order of `observationColumns`. */
export const encodeObservations = compileRowBinary(
  observationColumns.map(
    (name): RowBinaryColumn<Observation> => ({ name, type: observationColumnTypes[name] }),
  ),
)
