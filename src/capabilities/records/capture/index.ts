export { applyCapture, type Captured } from './apply-capture.ts'
export {
  type CapturePolicies,
  type CapturePoliciesOptions,
  createCapturePolicies,
} from './capture-policies.ts'
export type { CaptureDeps } from './capture-policy.ts'
export { captureRoutes } from './capture-routes.ts'
export { compilePolicy, defaultRules } from './compile-policy.ts'
export {
  type CapturePolicy,
  type CaptureRules,
  type ContentCapture,
  captureReasons,
  type Mask,
  type Masker,
} from './contract.ts'
export { maskText } from './mask-text.ts'
export { refusalOf } from './refusal.ts'
