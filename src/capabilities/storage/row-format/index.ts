export { columnTypesByKind, rowFormat } from './columns.ts'
export {
  type ObservationHead,
  readEventTrace,
  readObservation,
  readObservationHead,
  readTrace,
  type StoredTrace,
} from './read-rows.ts'
export { upgradeFrame } from './upgrade-frame.ts'
export { type DraftOf, type RowWriter, rowWriters } from './write-rows.ts'
