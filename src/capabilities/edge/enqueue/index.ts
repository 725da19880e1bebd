export type { EnqueueOptions, Enqueuer, IngestRequest, RecordRefusal } from './contract.ts'
export { createEnqueuer, type EnqueuerOptions } from './enqueuer.ts'
