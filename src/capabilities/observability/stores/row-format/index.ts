export {
  columnTypesByKind,
  correlationColumnTypes,
  eventColumnTypes,
  linkColumnTypes,
  observationColumnTypes,
  rowFormat,
  traceColumnTypes,
} from './columns.ts'
export { type ObservationHead, readObservation, readObservationHead } from './read-observation.ts'
export { type DraftOf, type RowWriter, rowWriters } from './write-rows.ts'
