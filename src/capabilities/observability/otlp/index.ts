export type {
  CapturePolicy,
  OtlpDependencies,
  OtlpGrpcServer,
  OtlpReceiver,
  OtlpSettings,
} from './receiver/contract.ts'
export { createOtlpReceiver } from './receiver/receiver.ts'
export { otlpRoutes } from './receiver/routes.ts'
