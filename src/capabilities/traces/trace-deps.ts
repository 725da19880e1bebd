import type { RunDeps } from '../query/index.ts'
import type { RecordStore } from '../storage/index.ts'

/** What the routes of traces need. */
export type TraceDeps = { records: RecordStore; queries: RunDeps }
