export { columnTypesByKind, rowFormat } from './columns.ts'
export { type ObservationHead, readObservation, readObservationHead } from './read-observation.ts'
export { readTrace, type StoredTrace } from './read-trace.ts'
export { type DraftOf, type RowWriter, rowWriters } from './write-rows.ts'
