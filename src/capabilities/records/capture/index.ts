import type { Route } from '../../../platform/http/index.ts'
import { type CaptureDeps, capturePolicyRoutes, previewCapturePolicy } from './capture-policy.ts'

export { applyCapture, type Captured, refusalOf } from './apply-capture.ts'
export {
  type CapturePolicies,
  createCapturePolicies,
} from './capture-policies.ts'
export type { CaptureDeps } from './capture-policy.ts'
export { compilePolicy, defaultRules } from './compile-policy.ts'
export {
  type CapturePolicy,
  type CaptureRules,
  captureReasons,
  type Masker,
} from './contract.ts'
export { maskText } from './mask-text.ts'

/** The routes of the capture policy. */
export function captureRoutes(deps: CaptureDeps): Route[] {
  return [...capturePolicyRoutes(deps), previewCapturePolicy()]
}
