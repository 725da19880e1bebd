import { type OperatedService, startOperatedService } from './operated-service.ts'

let ofWorker: Promise<OperatedService> | undefined

/** Returns the service of this worker: each test uses projects of its own. It ends with the worker. */
export function sharedService(): Promise<OperatedService> {
  ofWorker ??= startOperatedService()
  return ofWorker
}
