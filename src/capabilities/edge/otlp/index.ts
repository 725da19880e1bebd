export { jsonDecoder } from './decode/json/decoder.ts'
export { protobufDecoder } from './decode/protobuf/decoder.ts'
export type { MappingContract } from './mapping/contracts/contract-shape.ts'
export { currentContract } from './mapping/contracts/registry.ts'
export { createMapper } from './mapping/create-mapper.ts'
export type { MappedRequest, MapperOptions, OtlpMapper } from './mapping/mapper-contract.ts'
export { mappingPage } from './mapping/mapping-page.ts'
export { mappingRoutes } from './mappings/mapping-routes.ts'
export type {
  CaptureRecords,
  OtlpDependencies,
  OtlpGrpcServer,
  OtlpReceiver,
  OtlpSettings,
} from './receiver/contract.ts'
export { createOtlpReceiver } from './receiver/receiver.ts'
export { otlpRoutes } from './receiver/routes.ts'
