export { type IngestOptions, startIngest } from './consumer.ts'
export { defaultIngestSettings, type IngestSettings } from './settings.ts'
export type { SecondStore, StoredRows } from './write-rows.ts'
