export type { Enqueuer, IngestRequest } from './contract.ts'
export { createEnqueuer, type EnqueuerOptions } from './enqueuer.ts'
