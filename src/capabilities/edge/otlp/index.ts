import type { Route } from '../../../platform/http/index.ts'
import type { ObservationStore } from '../../storage/index.ts'
import { currentContract } from './mapping/contracts/registry.ts'
import { explainOtlpMapping } from './mappings/explain.ts'
import { getOtlpMapping } from './mappings/otlp.ts'

export { jsonDecoder } from './decode/json/decoder.ts'
export { protobufDecoder } from './decode/protobuf/decoder.ts'
export { currentContract } from './mapping/contracts/registry.ts'
export { createMapper } from './mapping/create-mapper.ts'
export type { MappedRequest, OtlpMapper } from './mapping/mapper-contract.ts'
export { createRowReader } from './mapping/read-again.ts'
export { mappingPage } from './mappings/otlp.ts'
export type {
  CaptureRecords,
  OtlpGrpcServer,
  OtlpReceiver,
  OtlpSettings,
} from './receiver/contract.ts'
export { createOtlpReceiver } from './receiver/receiver.ts'
export { otlpRoutes } from './receiver/routes.ts'

/** Returns the routes under `/api/v2/observability/mappings`. */
export function mappingRoutes(deps: { store: Pick<ObservationStore, 'observation'> }): Route[] {
  return [getOtlpMapping({ contract: currentContract }), explainOtlpMapping(deps)]
}
