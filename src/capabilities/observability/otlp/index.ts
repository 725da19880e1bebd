export { jsonDecoder } from './decode/json/decoder.ts'
export { protobufDecoder } from './decode/protobuf/decoder.ts'
export type {
  CaptureRecords,
  OtlpDependencies,
  OtlpGrpcServer,
  OtlpReceiver,
  OtlpSettings,
} from './receiver/contract.ts'
export { createOtlpReceiver } from './receiver/receiver.ts'
export { otlpRoutes } from './receiver/routes.ts'
