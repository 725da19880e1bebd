import type { Route } from '../../../platform/http/index.ts'
import { type CaptureDeps, getCapturePolicy, putCapturePolicy } from './capture-policy.ts'

/** The routes of the capture policy. */
export function captureRoutes(deps: CaptureDeps): Route[] {
  return [getCapturePolicy(deps), putCapturePolicy(deps)]
}
